package io.ordertimeout.engine;

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
}
