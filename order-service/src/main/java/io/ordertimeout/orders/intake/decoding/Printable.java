package io.ordertimeout.orders.intake.decoding;

/**
 * Text made of what came from outside, fit for a header and a terminal: short, and without raw
 * characters that end lines, hide text or turn it around.
 */
public final class Printable {

  private static final int MAX_LENGTH = 400;

  private Printable() {}

  /** The text with such characters escaped as in Java, cut to a few hundred characters. */
  public static String of(String text) {
    StringBuilder printable = new StringBuilder();
    int codePoint;
    for (int i = 0; i < text.length(); i += Character.charCount(codePoint)) {
      if (printable.length() >= MAX_LENGTH) {
        return printable.append('…').toString();
      }
      codePoint = text.codePointAt(i);
      if (isPrintable(codePoint)) {
        printable.appendCodePoint(codePoint);
      } else {
        printable.append(String.format("\\u%04x", codePoint));
      }
    }
    return printable.toString();
  }

  private static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
