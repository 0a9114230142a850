package io.ordertimeout.engine;

import java.util.concurrent.TimeUnit;

/**
 * The time that {@link ShardedTimers} goes by: absolute milliseconds, on the scale of the
 * deadlines.
 *
 * <p>The caller corrects it (towards a database's clock, for one) and calls {@link
 * ShardedTimers#clockChanged()} after a correction. It may go back: what was handed out stays
 * handed out, and nothing is handed out early by the corrected time.
 */
@FunctionalInterface
public interface TimerClock {

  /**
   * The time now. Called on the worker thread once a turn; must not block. An exception is logged
   * and the clock is read again after the retry delay.
   *
   * @return the time now in milliseconds
   */
  long nowMillis();

  /**
   * A clock that starts at the computer's time and from then on goes by {@link System#nanoTime}: it
   * neither jumps nor goes back when somebody sets the computer's clock. Thread-safe.
   *
   * <p>Deadlines have to be made from it, too, and not from a clock that jumps.
   *
   * @return the clock
   */
  static TimerClock steady() {
    long startMillis = System.currentTimeMillis();
    long startNanos = System.nanoTime();
    return () -> startMillis + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
  }
}
