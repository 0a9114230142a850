package io.ordertimeout.benchmarks;

import java.util.Optional;

/**
 * A measured value with its error at 99.9 %, which is NaN if there is none. A measuring process
 * prints its figures and the process that started it parses them.
 */
record Figure(String name, double value, double error) {

  private static final String MARK = "figure";

  static Figure of(String name, double value) {
    return new Figure(name, value, Double.NaN);
  }

  static Figure of(String name, Sample sample) {
    return new Figure(name, sample.mean(), sample.error());
  }

  /** Subtracts the benchmark's own cost. */
  Figure minus(Figure baseline) {
    return new Figure(name, value - baseline.value, Math.hypot(error, baseline.error));
  }

  String line() {
    return MARK + ' ' + name + ' ' + value + ' ' + error;
  }

  static Optional<Figure> parse(String line) {
    String[] words = line.split(" ", -1);
    if (words.length != 4 || !words[0].equals(MARK)) {
      return Optional.empty();
    }
    return Optional.of(
        new Figure(words[1], Double.parseDouble(words[2]), Double.parseDouble(words[3])));
  }
}
