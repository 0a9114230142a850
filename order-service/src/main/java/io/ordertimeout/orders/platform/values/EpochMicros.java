package io.ordertimeout.orders.platform.values;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Times as texts that clients return unread: whole microseconds since 1970. */
public final class EpochMicros {

  private static final Instant FIRST = Instant.parse("0000-01-01T00:00:00Z");
  private static final Instant END = Instant.parse("+10000-01-01T00:00:00Z");

  private static final long MICROS_PER_SECOND = 1_000_000;
  private static final long NANOS_PER_MICRO = 1_000;

  private EpochMicros() {}

  /** Returns the text of a time. */
  public static String text(Instant time) {
    // ChronoUnit.MICROS.between would count nanoseconds, which a long has only up to 2262.
    return Long.toString(
        time.getEpochSecond() * MICROS_PER_SECOND + time.getNano() / NANOS_PER_MICRO);
  }

  /**
   * Reads a text.
   *
   * @throws NumberFormatException if it is no time in a year of four digits; Postgres cannot store
   *     every other one
   */
  public static Instant parse(String text) {
    Instant time = Instant.EPOCH.plus(Long.parseLong(text), ChronoUnit.MICROS);
    if (time.isBefore(FIRST) || !time.isBefore(END)) {
      throw new NumberFormatException("is no time in a year of four digits: " + text);
    }
    return time;
  }
}
