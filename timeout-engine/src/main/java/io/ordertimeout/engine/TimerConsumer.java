package io.ordertimeout.engine;

/** Receives armed timers from {@link TimingWheel#forEach}. */
@FunctionalInterface
public interface TimerConsumer {

  /**
   * Looks at an armed timer.
   *
   * @param id the timer's id
   * @param deadlineMillis the deadline it was armed with, in milliseconds
   */
  void accept(long id, long deadlineMillis);
}
