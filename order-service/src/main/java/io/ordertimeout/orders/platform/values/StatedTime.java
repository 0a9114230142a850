package io.ordertimeout.orders.platform.values;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.OptionalInt;
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

  private static final int LEAP_SECOND = 60;

  /**
   * Reads a text.
   *
   * @throws DateTimeException if it is no such time; the message says what is wrong with it, and
   *     continues a sentence that begins with the name of the value
   */
  public static StatedTime parse(String text) {
    Scanner scanner = new Scanner(text);
    int year = scanner.number(4);
    scanner.require("-");
    int month = scanner.number(2);
    scanner.require("-");
    int day = scanner.number(2);
    if (scanner.isAtEnd()) {
      throw new DateTimeException("is a date without a time of day");
    }
    scanner.require("Tt ");
    int hour = scanner.number(2);
    scanner.require(":");
    int minute = scanner.number(2);
    int second = 0;
    long nanos = 0;
    if (scanner.take(":")) {
      second = scanner.number(2);
      nanos = scanner.take(".,") ? scanner.nanos() : 0;
    }
    OptionalInt offset = scanner.offset();
    if (!scanner.isAtEnd()) {
      throw scanner.noTime();
    }
    boolean isLeap = second == LEAP_SECOND;
    try {
      LocalDateTime time =
          LocalDateTime.of(year, month, day, hour, minute, isLeap ? LEAP_SECOND - 1 : second)
              .plusSeconds(isLeap ? 1 : 0)
              .plusNanos(nanos);
      // RFC 3339 allows offsets that ZoneOffset does not.
      return offset.isPresent()
          ? new StatedTime(time.minusMinutes(offset.getAsInt()), ZoneOffset.UTC)
          : new StatedTime(time, null);
    } catch (DateTimeException e) {
      throw new DateTimeException("is no time that exists", e);
    }
  }

  /**
   * Reads a text from its beginning. Without a regular expression, which takes nine times as long.
   */
  private static final class Scanner {

    private static final int NANO_DIGITS = 9;
    private static final int MINUTES_OF_HOUR = 60;
    private static final int MINUTES_OF_DAY = 24 * MINUTES_OF_HOUR;

    private final String text;
    private int at;

    Scanner(String text) {
      this.text = text;
    }

    boolean isAtEnd() {
      return at == text.length();
    }

    /** Reads one of those characters, if it is next. */
    boolean take(String anyOf) {
      boolean isNext = at < text.length() && anyOf.indexOf(text.charAt(at)) >= 0;
      at += isNext ? 1 : 0;
      return isNext;
    }

    void require(String anyOf) {
      if (!take(anyOf)) {
        throw noTime();
      }
    }

    /** Reads a number of exactly that many digits. */
    int number(int digits) {
      int number = 0;
      for (int i = 0; i < digits; i++) {
        number = number * 10 + digit();
      }
      return number;
    }

    /** Reads a fraction of a second of any length. */
    long nanos() {
      long nanos = 0;
      boolean isFiner = false;
      int digits = 0;
      do {
        int digit = digit();
        if (digits < NANO_DIGITS) {
          nanos = nanos * 10 + digit;
        } else {
          isFiner |= digit > 0;
        }
        digits++;
      } while (isDigitNext());
      for (; digits < NANO_DIGITS; digits++) {
        nanos *= 10;
      }
      return nanos + (isFiner ? 1 : 0);
    }

    /** Reads an offset from UTC, in minutes; none if none is next. */
    OptionalInt offset() {
      if (take("Zz")) {
        return OptionalInt.of(0);
      }
      boolean isNegative = take("-");
      if (!isNegative && !take("+")) {
        return OptionalInt.empty();
      }
      int hours = number(2);
      int minutes = take(":") || isDigitNext() ? number(2) : 0;
      int offset = hours * MINUTES_OF_HOUR + minutes;
      if (minutes >= MINUTES_OF_HOUR || offset >= MINUTES_OF_DAY) {
        throw new DateTimeException("states no offset that exists");
      }
      return OptionalInt.of(isNegative ? -offset : offset);
    }

    private boolean isDigitNext() {
      return at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9';
    }

    private int digit() {
      if (!isDigitNext()) {
        throw noTime();
      }
      return text.charAt(at++) - '0';
    }

    DateTimeException noTime() {
      return new DateTimeException("is not an ISO-8601 time with an offset");
    }
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
