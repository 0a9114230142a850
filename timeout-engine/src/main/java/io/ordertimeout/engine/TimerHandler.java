package io.ordertimeout.engine;

/** Receives timers of a {@link TimingWheel}, one after the other. */
@FunctionalInterface
public interface TimerHandler {

  /**
   * Takes or refuses a timer.
   *
   * <p>From {@link TimingWheel#advance} it is a due timer. It is armed until this returns. If this
   * throws or returns false the timer stays armed and {@code advance} ends. The handler may call
   * {@link TimingWheel#schedule} and {@link TimingWheel#cancel} of the same wheel, also for this
   * very id; what it does with this id stands, whatever it returns.
   *
   * <p>From {@link TimingWheel#forEach} it is any armed timer, and it stays armed.
   *
   * @param id the timer's id
   * @param deadlineMillis the deadline it was armed with, in milliseconds
   * @return true if taken, and the next one may come; false if refused, and no more come
   */
  boolean take(long id, long deadlineMillis);
}
