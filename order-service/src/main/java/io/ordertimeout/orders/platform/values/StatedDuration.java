package io.ordertimeout.orders.platform.values;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A duration as its text states it: in the form of ISO 8601, with weeks, days and a fraction of any
 * part, as in {@code P1W}, {@code PT0.5H} or {@code P0Y0M0DT0H30M0S}. A day has 24 hours.
 */
public final class StatedDuration {

  private static final String NUMBER = "([+-]?\\d{1,18}(?:[.,]\\d{1,18})?)";

  private static final String PARTS =
      "([+-])?P(?:#Y)?(?:#M)?(?:#W)?(?:#D)?(T(?:#H)?(?:#M)?(?:#S)?)?";

  private static final Pattern FORM =
      Pattern.compile(PARTS.replace("#", NUMBER), Pattern.CASE_INSENSITIVE);

  private static final int YEARS = 2;
  private static final int MONTHS = 3;
  private static final int TIME = 6;
  private static final int[] GROUPS = {4, 5, 7, 8, 9};
  private static final long[] SECONDS = {604_800, 86_400, 3_600, 60, 1};
  private static final int NANO_DIGITS = 9;
  private static final BigInteger NANOS = BigInteger.TEN.pow(NANO_DIGITS);

  private StatedDuration() {}

  /**
   * Reads a text; what is finer than nanoseconds is rounded up.
   *
   * @throws DateTimeException if it is no such duration; the message says what is wrong with it,
   *     and continues a sentence that begins with the name of the value
   */
  public static Duration parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches() || !hasParts(form)) {
      throw new DateTimeException("is not an ISO-8601 duration");
    }
    if (number(form.group(YEARS)).signum() != 0 || number(form.group(MONTHS)).signum() != 0) {
      throw new DateTimeException("has months or years, which have no fixed length");
    }
    BigDecimal seconds = BigDecimal.ZERO;
    for (int i = 0; i < GROUPS.length; i++) {
      seconds = seconds.add(number(form.group(GROUPS[i])).multiply(new BigDecimal(SECONDS[i])));
    }
    if ("-".equals(form.group(1))) {
      seconds = seconds.negate();
    }
    try {
      BigInteger[] parts =
          seconds
              .setScale(NANO_DIGITS, RoundingMode.CEILING)
              .unscaledValue()
              .divideAndRemainder(NANOS);
      return Duration.ofSeconds(parts[0].longValueExact(), parts[1].longValueExact());
    } catch (ArithmeticException e) {
      throw new DateTimeException("is too long", e);
    }
  }

  private static boolean hasParts(Matcher form) {
    String time = form.group(TIME);
    boolean hasPart = false;
    for (int group = YEARS; group <= form.groupCount(); group++) {
      hasPart |= group != TIME && form.group(group) != null;
    }
    return hasPart && (time == null || time.length() > 1);
  }

  private static BigDecimal number(@Nullable String text) {
    return text == null ? BigDecimal.ZERO : new BigDecimal(text.replace(',', '.'));
  }
}
