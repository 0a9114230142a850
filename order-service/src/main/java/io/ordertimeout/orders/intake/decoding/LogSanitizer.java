package io.ordertimeout.orders.intake.decoding;

import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.util.stream.Collectors;

/**
 * Makes text from outside safe for headers and terminals: limits its length and escapes characters
 * that break lines, hide text or change its direction.
 */
public final class LogSanitizer {

  private static final int MAX_LENGTH = 400;

  private LogSanitizer() {}

  /** Escapes unprintable characters as in Java and truncates the text after 400 characters. */
  public static String of(String text) {
    StringBuilder printable = new StringBuilder();
    int codePoint;
    for (int i = 0; i < text.length(); i += Character.charCount(codePoint)) {
      if (printable.length() >= MAX_LENGTH) {
        return printable.append("...").toString();
      }
      codePoint = text.codePointAt(i);
      if (isPrintable(codePoint)) {
        printable.appendCodePoint(codePoint);
      } else {
        printable.append(escaped(codePoint));
      }
    }
    return printable.toString();
  }

  /** Escapes characters that a terminal cannot show because its charset does not have them. */
  static String in(Charset charset, String text) {
    CharsetEncoder encoder = charset.newEncoder();
    return text.codePoints()
        .mapToObj(
            codePoint -> {
              String character = Character.toString(codePoint);
              return encoder.canEncode(character) ? character : escaped(codePoint);
            })
        .collect(Collectors.joining());
  }

  private static String escaped(int codePoint) {
    return String.format("\\u%04x", codePoint);
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
