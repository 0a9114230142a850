package io.ordertimeout.orders.intake.decoding;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Times that are counted from 1970, in units that nobody states: seconds, milliseconds,
 * microseconds or nanoseconds. From 2000 to 2999, the number alone tells the unit: no number is
 * such a time in two of them.
 */
final class EpochTime {

  private static final long FIRST = Instant.parse("2000-01-01T00:00:00Z").getEpochSecond();
  private static final long END = Instant.parse("3000-01-01T00:00:00Z").getEpochSecond();
  private static final long THOUSAND = 1_000L;

  private EpochTime() {}

  /** Returns the time; null if the number is none of that range in any unit. */
  static @Nullable Instant of(long number) {
    long perSecond = 1;
    for (ChronoUnit unit :
        new ChronoUnit[] {
          ChronoUnit.SECONDS, ChronoUnit.MILLIS, ChronoUnit.MICROS, ChronoUnit.NANOS
        }) {
      long seconds = Math.floorDiv(number, perSecond);
      if (seconds >= FIRST && seconds < END) {
        return Instant.EPOCH.plus(number, unit);
      }
      perSecond *= THOUSAND;
    }
    return null;
  }
}
