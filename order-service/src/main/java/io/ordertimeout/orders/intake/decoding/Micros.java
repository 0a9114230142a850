package io.ordertimeout.orders.intake.decoding;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Conversions of times to the precision and range in which they are stored and published. */
final class Micros {

  /**
   * The latest accepted time; ISO-8601 writes later years with a sign, which parsers may reject.
   */
  static final Instant LAST = Instant.parse("9999-12-31T23:59:59Z");

  private Micros() {}

  /** Rounds up to microseconds, so that no deadline is earlier than stated. */
  static Instant roundUp(Instant time) {
    Instant down = time.truncatedTo(ChronoUnit.MICROS);
    return down.equals(time) ? time : down.plus(1, ChronoUnit.MICROS);
  }

  /** Whether the year is between 1970 and 9999. */
  static boolean isInRange(Instant time) {
    return !time.isBefore(Instant.EPOCH) && !time.isAfter(LAST);
  }
}
