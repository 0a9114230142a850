package io.ordertimeout.orders.intake;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Times as Postgres keeps them: in microseconds. */
final class Micros {

  private Micros() {}

  /** Rounds up, so that no deadline comes earlier than it was given. */
  static Instant roundUp(Instant time) {
    Instant down = time.truncatedTo(ChronoUnit.MICROS);
    return down.equals(time) ? time : down.plus(1, ChronoUnit.MICROS);
  }
}
