package io.ordertimeout.engine;

/** Receives timers of a {@link TimingWheel}, one at a time. */
@FunctionalInterface
public interface TimerHandler {

  /**
   * Accepts or rejects a timer.
   *
   * <p>{@link TimingWheel#advance} passes due timers. The timer stays armed until this method
   * returns. If it throws or returns false, the timer remains armed and {@code advance} ends. The
   * handler may call {@link TimingWheel#schedule} and {@link TimingWheel#cancel} on the same wheel,
   * also for this id; such a change to this id takes effect whatever the handler returns.
   *
   * <p>{@link TimingWheel#forEach} passes any armed timers, which stay armed.
   *
   * @param id the timer's id
   * @param deadlineMillis the deadline it was armed with, in milliseconds
   * @return true to accept the timer and continue; false to reject it and stop
   */
  boolean take(long id, long deadlineMillis);
}
