package io.ordertimeout.engine;

import java.util.concurrent.TimeUnit;

/**
 * The clock that {@link ShardedTimers} uses: absolute milliseconds, on the same scale as the
 * deadlines.
 *
 * <p>The owner of the clock may correct it, for example to follow a database's clock, and calls
 * {@link ShardedTimers#clockChanged()} after a correction: without the call, a worker that sleeps
 * notices a jump ahead only when it wakes for another reason. {@code System::currentTimeMillis} is
 * such a clock, and nobody announces its jumps; {@link #steady()} has none. The clock may go back:
 * delivered timers stay delivered, and no other timer is delivered early by the corrected time.
 */
@FunctionalInterface
public interface TimerClock {

  /**
   * Returns the current time. Called on the worker thread in every turn; must not block. If it
   * throws, the exception is logged and the clock is read again after the retry delay.
   *
   * @return the current time in milliseconds
   */
  long nowMillis();

  /**
   * Returns a clock that starts at the system time and then follows {@link System#nanoTime}. It
   * does not jump or go back when the system clock is set. Thread-safe.
   *
   * <p>Deadlines must be derived from the same clock, not from one that can jump.
   *
   * @return the clock
   */
  static TimerClock steady() {
    long startMillis = System.currentTimeMillis();
    long startNanos = System.nanoTime();
    return () -> startMillis + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
  }
}
