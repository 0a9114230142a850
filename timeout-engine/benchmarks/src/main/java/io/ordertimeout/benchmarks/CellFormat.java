package io.ordertimeout.benchmarks;

import java.util.Locale;
import java.util.Optional;

/** Figures as the tables show them. */
final class CellFormat {

  static final String NOT_APPLICABLE = "n/a";

  private CellFormat() {}

  static String of(Optional<Figure> figure) {
    return figure.map(CellFormat::of).orElse(NOT_APPLICABLE);
  }

  /** How many times the one is the other. */
  static String ratio(Optional<Figure> figure, Optional<Figure> ours) {
    return figure.isEmpty() || ours.isEmpty()
        ? NOT_APPLICABLE
        : number(figure.get().value() / ours.get().value()) + " x";
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
