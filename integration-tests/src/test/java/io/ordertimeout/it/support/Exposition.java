package io.ordertimeout.it.support;

import java.util.List;
import java.util.OptionalDouble;

/** A reader of metrics in the text format of Prometheus. */
final class Exposition {

  private Exposition() {}

  /**
   * The sum over the series of a metric that have the labels, given as {@code name="value"}; empty
   * if there is none.
   */
  static OptionalDouble sum(String text, String metric, String... labels) {
    List<Double> values =
        text.lines()
            .filter(line -> line.startsWith(metric + "{") || line.startsWith(metric + " "))
            .filter(line -> hasAll(line.substring(metric.length()), labels))
            .map(line -> Double.valueOf(line.substring(line.lastIndexOf(' ') + 1)))
            .toList();
    return values.isEmpty()
        ? OptionalDouble.empty()
        : OptionalDouble.of(values.stream().mapToDouble(Double::doubleValue).sum());
  }

  private static boolean hasAll(String series, String... labels) {
    for (String label : labels) {
      if (!series.contains("{" + label) && !series.contains("," + label)) {
        return false;
      }
    }
    return true;
  }
}
