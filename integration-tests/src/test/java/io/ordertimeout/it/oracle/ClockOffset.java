package io.ordertimeout.it.oracle;

import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;

/**
 * How far another clock is ahead of this JVM's. A round trip yields bounds, not a number: the other
 * clock was read at some time between its beginning and its end.
 */
record ClockOffset(Duration atLeast, Duration atMost) {

  /**
   * The skew that the judge allows between any of its clocks: Postgres's, which sets deadlines, the
   * broker's, which stamps records, and that of this JVM, which sees them.
   */
  static final Duration ALLOWED_SKEW = Duration.ofMillis(10);

  /** As many round trips as it may take until one is short enough on a busy machine. */
  private static final int MAX_ROUND_TRIPS = 500;

  /**
   * Reads the clock until its offset is known to be within the allowed skew, or for long enough to
   * know that it is not.
   *
   * @param resolution the duration by which the clock's readings may be rounded down
   */
  static ClockOffset measure(Supplier<Instant> clock, Duration resolution) {
    ClockOffset offset = roundTrip(clock, resolution);
    for (int i = 1; i < MAX_ROUND_TRIPS && !offset.isAllowed(); i++) {
      offset = offset.and(roundTrip(clock, resolution));
    }
    return offset;
  }

  private static ClockOffset roundTrip(Supplier<Instant> clock, Duration resolution) {
    Instant before = Instant.now();
    Instant read = clock.get();
    return between(before, read, resolution, Instant.now());
  }

  static ClockOffset between(Instant before, Instant read, Duration resolution, Instant after) {
    return new ClockOffset(
        Duration.between(after, read), Duration.between(before, read).plus(resolution));
  }

  /** What two round trips tell together. They contradict each other if a clock has jumped. */
  ClockOffset and(ClockOffset other) {
    return new ClockOffset(
        atLeast.compareTo(other.atLeast) > 0 ? atLeast : other.atLeast,
        atMost.compareTo(other.atMost) < 0 ? atMost : other.atMost);
  }

  /** Whether the clocks certainly differ by no more than the allowed skew. */
  boolean isAllowed() {
    return atLeast.compareTo(atMost) <= 0
        && atLeast.compareTo(ALLOWED_SKEW.negated()) >= 0
        && atMost.compareTo(ALLOWED_SKEW) <= 0;
  }

  @Override
  public String toString() {
    return "%.3f to %.3f ms".formatted(atLeast.toNanos() / 1e6, atMost.toNanos() / 1e6);
  }
}
