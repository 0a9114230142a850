package io.ordertimeout.engine;

/** Receives the due timers from {@link TimingWheel#advance}, one after the other. */
@FunctionalInterface
public interface DueHandler {

  /**
   * Takes or refuses a due timer.
   *
   * <p>The timer is armed until this returns. If it throws or returns false the timer stays armed
   * and {@code advance} ends. The handler may call {@link TimingWheel#schedule} and {@link
   * TimingWheel#cancel} of the same wheel, also for this very id; what it does with this id stands,
   * whatever it returns.
   *
   * @param id the timer's id
   * @param deadlineMillis the deadline it was armed with, in milliseconds
   * @return true if taken (the timer is disarmed), false if refused (it stays armed, {@code
   *     advance} ends)
   */
  boolean onDue(long id, long deadlineMillis);
}
