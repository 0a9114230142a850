package io.ordertimeout.orders.expiry;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Spreads work over time, so that no more of it begins than some number a second, with no credit
 * for idle times. Thread-safe.
 */
final class RateLimiter {

  private final long nanosEach;
  private final LongSupplier nanoTime;
  private long nextNanos;

  /**
   * Makes a pace.
   *
   * @param perSecond the most pieces of work a second, 0 for no limit
   * @param nanoTime a clock in nanoseconds
   */
  RateLimiter(int perSecond, LongSupplier nanoTime) {
    this.nanosEach = perSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / perSecond;
    this.nanoTime = nanoTime;
    this.nextNanos = nanoTime.getAsLong();
  }

  /** Takes its turn for so many pieces, and says in how many nanoseconds that is. */
  long nanosUntilNext(int pieces) {
    if (nanosEach == 0) {
      return 0;
    }
    synchronized (this) {
      long now = nanoTime.getAsLong();
      long turn = nextNanos - now > 0 ? nextNanos : now;
      nextNanos = turn + pieces * nanosEach;
      return turn - now;
    }
  }
}
