package io.ordertimeout.orders.benchmarks.report;

import java.util.Locale;

/** Numbers with as many digits as mean something. */
final class Numbers {

  private Numbers() {}

  static String of(double value) {
    double size = Math.abs(value);
    if (size >= 100 || value == Math.rint(value)) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    return String.format(Locale.ROOT, size >= 10 ? "%.1f" : "%.2f", value);
  }

  /** The median of sorted values, with the least and the greatest if there are several. */
  static String ofRuns(double[] sorted) {
    if (sorted.length == 0) {
      return "–";
    }
    String median = of(median(sorted));
    return sorted.length == 1
        ? median
        : median + " (" + of(sorted[0]) + "–" + of(sorted[sorted.length - 1]) + ")";
  }

  static double median(double[] sorted) {
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
