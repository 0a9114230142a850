package io.ordertimeout.benchmarks;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * The options of the command line.
 *
 * @param sizes the numbers of pending timers to measure
 * @param quick whether to check only that everything runs
 * @param heap the maximum heap of a measuring process
 * @param out the file of the report
 */
record Options(List<Integer> sizes, boolean quick, String heap, Path out) {

  static final String USAGE =
      "java -jar benchmarks.jar [--quick] [--sizes=10000,1000000] [--heap=8g] [--out=FILE]";

  private static final List<Integer> SIZES = List.of(10_000, 100_000, 1_000_000, 10_000_000);
  private static final List<Integer> QUICK_SIZES = List.of(10_000, 100_000);

  /** The smallest size that all tasks support. */
  private static final int MIN_SIZE = 1_000;

  /**
   * Parses the command line.
   *
   * @throws IllegalArgumentException if it is invalid
   */
  static Options of(String... arguments) {
    boolean quick = Arrays.asList(arguments).contains("--quick");
    List<Integer> sizes = quick ? QUICK_SIZES : SIZES;
    String heap = "8g";
    Path out = Path.of("benchmarks.md");
    for (String argument : arguments) {
      int equals = argument.indexOf('=') + 1;
      String value = argument.substring(equals);
      switch (argument.substring(0, equals)) {
        case "--sizes=" ->
            sizes = Arrays.stream(value.split(",", -1)).map(Options::size).distinct().toList();
        case "--heap=" -> heap = value;
        case "--out=" -> out = Path.of(value);
        default -> {
          if (!argument.equals("--quick")) {
            throw new IllegalArgumentException("Unknown option: " + argument);
          }
        }
      }
    }
    return new Options(sizes, quick, heap, out);
  }

  Effort effort() {
    return quick ? Effort.QUICK : Effort.DEFAULT;
  }

  int largest() {
    return sizes.stream().mapToInt(Integer::intValue).max().orElseThrow();
  }

  /**
   * Returns the largest requested size that does not exceed the given one, or the largest requested
   * size if there is none.
   */
  int upTo(int wanted) {
    return sizes.stream()
        .mapToInt(Integer::intValue)
        .filter(size -> size <= wanted)
        .max()
        .orElse(largest());
  }

  private static int size(String text) {
    int size;
    try {
      size = Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("A size must be a number: " + text, e);
    }
    if (size < MIN_SIZE) {
      throw new IllegalArgumentException("A size must be at least " + MIN_SIZE + ": " + size);
    }
    return size;
  }
}
