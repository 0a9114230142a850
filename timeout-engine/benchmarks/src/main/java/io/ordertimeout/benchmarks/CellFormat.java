package io.ordertimeout.benchmarks;

import java.util.Locale;
import java.util.Optional;

/** Formats figures for table cells. */
final class CellFormat {

  static final String NOT_APPLICABLE = "n/a";

  private CellFormat() {}

  static String of(Optional<Figure> figure) {
    return figure.map(CellFormat::of).orElse(NOT_APPLICABLE);
  }

  /** Formats the ratio of two figures. */
  static String ratio(Optional<Figure> figure, Optional<Figure> reference) {
    return figure.isEmpty() || reference.isEmpty()
        ? NOT_APPLICABLE
        : number(figure.get().value() / reference.get().value()) + " x";
  }

  private static String of(Figure figure) {
    String value = number(figure.value());
    return Double.isNaN(figure.error()) ? value : value + " ± " + number(figure.error());
  }

  private static String number(double value) {
    double size = Math.abs(value);
    String format = size >= 10_000 ? "%,.0f" : size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, format, value);
  }
}
