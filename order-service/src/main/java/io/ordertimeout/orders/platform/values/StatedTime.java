package io.ordertimeout.orders.platform.values;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A time as its text states it: in the form of <a
 * href="https://www.rfc-editor.org/rfc/rfc3339#section-5.6">RFC 3339</a>, or without an offset. The
 * forms that libraries write besides are read as well: no seconds, an offset without a colon or
 * without minutes. A leap second is the second after it, and what is finer than nanoseconds is
 * rounded up, so that no time is earlier than stated.
 *
 * @param local the date and the time of day
 * @param offset the offset from UTC; null if the text states none, so that the time is no instant
 */
public record StatedTime(LocalDateTime local, @Nullable ZoneOffset offset) {

  private static final Pattern FORM =
      Pattern.compile(
          "(\\d{4})-(\\d\\d)-(\\d\\d)[Tt ](\\d\\d):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d+))?)?"
              + "([Zz]|([+-])(\\d\\d)(?::?(\\d\\d))?)?",
          Pattern.CASE_INSENSITIVE);

  private static final Pattern DATE = Pattern.compile("\\d{4}-\\d\\d-\\d\\d");

  private static final int NANO_DIGITS = 9;
  private static final int LEAP_SECOND = 60;
  private static final int MINUTES_OF_HOUR = 60;
  private static final int MAX_OFFSET_MINUTES = 24 * MINUTES_OF_HOUR - 1;

  /**
   * Reads a text.
   *
   * @throws DateTimeException if it is no such time; the message says what is wrong with it, and
   *     continues a sentence that begins with the name of the value
   */
  public static StatedTime parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new DateTimeException(
          DATE.matcher(text).matches()
              ? "is a date without a time of day"
              : "is not an ISO-8601 time with an offset");
    }
    int second = form.group(6) == null ? 0 : Integer.parseInt(form.group(6));
    try {
      LocalDateTime time =
          LocalDateTime.of(
                  Integer.parseInt(form.group(1)),
                  Integer.parseInt(form.group(2)),
                  Integer.parseInt(form.group(3)),
                  Integer.parseInt(form.group(4)),
                  Integer.parseInt(form.group(5)),
                  second == LEAP_SECOND ? LEAP_SECOND - 1 : second)
              .plusSeconds(second == LEAP_SECOND ? 1 : 0)
              .plusNanos(nanos(form.group(7)));
      return offset(time, form);
    } catch (DateTimeException e) {
      throw new DateTimeException("is no time that exists", e);
    }
  }

  private static StatedTime offset(LocalDateTime time, Matcher form) {
    if (form.group(8) == null) {
      return new StatedTime(time, null);
    }
    if (form.group(9) == null) {
      return new StatedTime(time, ZoneOffset.UTC);
    }
    int minutesOfOffset = form.group(11) == null ? 0 : Integer.parseInt(form.group(11));
    int minutes = Integer.parseInt(form.group(10)) * MINUTES_OF_HOUR + minutesOfOffset;
    if (minutesOfOffset >= MINUTES_OF_HOUR || minutes > MAX_OFFSET_MINUTES) {
      throw new DateTimeException("offset");
    }
    // RFC 3339 allows offsets that ZoneOffset does not.
    return new StatedTime(
        "-".equals(form.group(9)) ? time.plusMinutes(minutes) : time.minusMinutes(minutes),
        ZoneOffset.UTC);
  }

  private static long nanos(@Nullable String fraction) {
    if (fraction == null) {
      return 0;
    }
    String digits = fraction.length() < NANO_DIGITS ? fraction + "0".repeat(NANO_DIGITS) : fraction;
    boolean isFiner = !digits.substring(NANO_DIGITS).chars().allMatch(digit -> digit == '0');
    return Long.parseLong(digits.substring(0, NANO_DIGITS)) + (isFiner ? 1 : 0);
  }

  /**
   * Returns the instant.
   *
   * @param zone the zone of a time without an offset; null if nobody knows it. As in {@link
   *     LocalDateTime#atZone}, a time in the gap when clocks are put forward is later by the length
   *     of the gap, and of two times when they are put back, the earlier one is meant.
   * @return the instant; null if the text states no offset and there is no zone
   */
  public @Nullable Instant instant(@Nullable ZoneId zone) {
    if (offset != null) {
      return local.toInstant(offset);
    }
    return zone == null ? null : local.atZone(zone).toInstant();
  }

  /** Returns the text of a time that has no offset, counted from 1970. */
  public static String local(long count, ChronoUnit unit) {
    return LocalDateTime.ofInstant(Instant.EPOCH.plus(count, unit), ZoneOffset.UTC).toString();
  }
}
