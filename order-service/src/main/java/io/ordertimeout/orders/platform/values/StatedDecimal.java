package io.ordertimeout.orders.platform.values;

import java.math.BigDecimal;

/**
 * A decimal number as its text states it, with so few digits that computing with it is cheap: at
 * most 30, and at most 10 of them after the point. {@code 1e-30000000} has few characters, but 30
 * million digits without its exponent.
 */
public final class StatedDecimal {

  /** Parsing a number takes time quadratic in the length of its text. */
  public static final int MAX_LENGTH = 100;

  /** How many digits a number may have. */
  public static final int MAX_DIGITS = 30;

  /** How many digits may be after the point, or zeros at the end may be left to an exponent. */
  public static final int MAX_SCALE = 10;

  private StatedDecimal() {}

  /**
   * Reads a text.
   *
   * @throws NumberFormatException if it is no such number; the message says what is wrong with it,
   *     and continues a sentence that begins with the name of the value
   */
  public static BigDecimal parse(String text) {
    if (text.length() > MAX_LENGTH) {
      throw new NumberFormatException("has a value of more than " + MAX_LENGTH + " characters");
    }
    BigDecimal number;
    try {
      number = new BigDecimal(text);
    } catch (NumberFormatException e) {
      NumberFormatException unusable = new NumberFormatException("has no usable value");
      unusable.initCause(e);
      throw unusable;
    }
    return bounded(number);
  }

  /**
   * Returns a number that was read already, if it has so few digits.
   *
   * @throws NumberFormatException if it has more; the message is as that of {@link #parse}
   */
  public static BigDecimal bounded(BigDecimal number) {
    if (number.precision() > MAX_DIGITS || Math.abs((long) number.scale()) > MAX_SCALE) {
      throw new NumberFormatException("has a value with too many digits");
    }
    return number;
  }
}
