package io.ordertimeout.orders.intake;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Detects jumps of this machine's wall clock by comparing it with monotonic time. Kafka's clients
 * time their heartbeats by the wall clock: after it was set back, a consumer sends none until the
 * clock has caught up, and is removed from its group without noticing. Confined to one thread.
 */
final class WallClockMonitor {

  /** A smaller difference between two checks is clock synchronisation, not a jump. */
  static final Duration TOLERANCE = Duration.ofSeconds(5);

  /** Readings of the two clocks that are further apart than this are repeated. */
  private static final Duration MAX_READING = Duration.ofMillis(500);

  private static final int MAX_ATTEMPTS = 5;

  private final LongSupplier wallMillis;
  private final LongSupplier nanoTime;
  private long offsetMillis;

  WallClockMonitor(LongSupplier wallMillis, LongSupplier nanoTime) {
    this.wallMillis = wallMillis;
    this.nanoTime = nanoTime;
    this.offsetMillis = offset();
  }

  /**
   * Returns by how much the wall clock has jumped since the last call: negative if it was set back,
   * zero if it did not jump.
   */
  Duration jump() {
    long latest = offset();
    Duration jump = Duration.ofMillis(latest - offsetMillis);
    offsetMillis = latest;
    return jump.abs().compareTo(TOLERANCE) > 0 ? jump : Duration.ZERO;
  }

  /** Wall clock minus monotonic time. A thread that is suspended between the readings repeats. */
  private long offset() {
    for (int attempt = 1; ; attempt++) {
      long before = nanoTime.getAsLong();
      long wall = wallMillis.getAsLong();
      long after = nanoTime.getAsLong();
      if (after - before <= MAX_READING.toNanos() || attempt == MAX_ATTEMPTS) {
        return wall - TimeUnit.NANOSECONDS.toMillis(after);
      }
    }
  }
}
