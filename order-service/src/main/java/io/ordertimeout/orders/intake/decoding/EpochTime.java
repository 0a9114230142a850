package io.ordertimeout.orders.intake.decoding;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Times that are counted from 1970, in units that differ by the type of a column: seconds,
 * milliseconds, microseconds or nanoseconds. From 1973 to 5138, the number alone tells the unit.
 */
final class EpochTime {

  private static final long LEAST = 100_000_000L;
  private static final long THOUSAND = 1_000L;

  private EpochTime() {}

  /** Returns the time; null if the number is none of that range in any unit. */
  static @Nullable Instant of(long number) {
    long least = LEAST;
    for (ChronoUnit unit :
        new ChronoUnit[] {ChronoUnit.SECONDS, ChronoUnit.MILLIS, ChronoUnit.MICROS}) {
      if (number >= least && number / THOUSAND < least) {
        return Instant.EPOCH.plus(number, unit);
      }
      least *= THOUSAND;
    }
    return number >= least ? Instant.EPOCH.plus(number, ChronoUnit.NANOS) : null;
  }
}
