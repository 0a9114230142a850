package io.ordertimeout.benchmarks;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * What the command line asks for.
 *
 * @param sizes the pending timers, one after the other
 * @param quick whether to look only whether everything runs
 * @param heap the most heap of a measuring process
 * @param out where the tables go
 */
record Options(List<Integer> sizes, boolean quick, String heap, Path out) {

  static final String USAGE =
      "java -jar benchmarks.jar [--quick] [--sizes=10000,1000000] [--heap=8g] [--out=FILE]";

  private static final List<Integer> SIZES = List.of(10_000, 100_000, 1_000_000, 10_000_000);
  private static final List<Integer> QUICK_SIZES = List.of(10_000, 100_000);

  /** The fewest timers that any task can be asked for. */
  private static final int LEAST_SIZE = 1_000;

  /**
   * Reads the command line.
   *
   * @throws IllegalArgumentException if it cannot be read
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
            throw new IllegalArgumentException("There is no such option: " + argument);
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

  /** The size, of those asked for, that is nearest to the one wanted, at most that. */
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
    if (size < LEAST_SIZE) {
      throw new IllegalArgumentException("A size must be at least " + LEAST_SIZE + ": " + size);
    }
    return size;
  }
}
