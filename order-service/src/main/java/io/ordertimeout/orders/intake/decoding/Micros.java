package io.ordertimeout.orders.intake.decoding;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Times as Postgres keeps them: in microseconds, and of a range that every part can write. */
final class Micros {

  /** The last time that is taken; a longer year is written with a sign, which nobody expects. */
  static final Instant LAST = Instant.parse("9999-12-31T23:59:59Z");

  private Micros() {}

  /** Rounds up, so that no deadline comes earlier than it was given. */
  static Instant roundUp(Instant time) {
    Instant down = time.truncatedTo(ChronoUnit.MICROS);
    return down.equals(time) ? time : down.plus(1, ChronoUnit.MICROS);
  }

  /** Whether the time lies between 1970 and 9999. */
  static boolean isInRange(Instant time) {
    return !time.isBefore(Instant.EPOCH) && !time.isAfter(LAST);
  }

  /** The time, or the end of the range that it lies beyond. */
  static Instant intoRange(Instant time) {
    if (time.isBefore(Instant.EPOCH)) {
      return Instant.EPOCH;
    }
    return time.isAfter(LAST) ? LAST : time;
  }
}
