package io.ordertimeout.orders.intake.decoding;

/**
 * Makes text from outside safe for headers and terminals: limits its length and escapes characters
 * that break lines, hide text or change its direction.
 */
public final class Printable {

  private static final int MAX_LENGTH = 400;

  private Printable() {}

  /** Escapes unprintable characters as in Java and truncates the text after 400 characters. */
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
