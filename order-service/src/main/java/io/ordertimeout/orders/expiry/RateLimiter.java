package io.ordertimeout.orders.expiry;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Limits how many orders are decided per second, by delaying batches. Idle time earns no credit.
 * Thread-safe.
 */
final class RateLimiter {

  private final long nanosEach;
  private final LongSupplier nanoTime;
  private long nextNanos;

  /**
   * Creates a limiter.
   *
   * @param perSecond most orders per second; 0 for no limit
   * @param nanoTime clock in nanoseconds
   */
  RateLimiter(int perSecond, LongSupplier nanoTime) {
    this.nanosEach = perSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / perSecond;
    this.nanoTime = nanoTime;
    this.nextNanos = nanoTime.getAsLong();
  }

  /** Reserves time for a batch; returns in how many nanoseconds that time begins. */
  long nanosUntilNext(int orders) {
    if (nanosEach == 0) {
      return 0;
    }
    synchronized (this) {
      long now = nanoTime.getAsLong();
      long turn = nextNanos - now > 0 ? nextNanos : now;
      nextNanos = turn + orders * nanosEach;
      return turn - now;
    }
  }
}
