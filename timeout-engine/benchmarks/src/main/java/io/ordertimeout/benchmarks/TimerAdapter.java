package io.ordertimeout.benchmarks;

/**
 * A timer facility, as every benchmark sees it.
 *
 * <p>Time begins at 0 ms. Contestants whose time is simulated stand there until {@link #advance}
 * moves them. The others go by the machine's clock; they read a deadline as a delay from the call.
 */
interface TimerAdapter extends AutoCloseable {

  /** Arms the timers of a batch, none of which is armed. */
  void schedule(OrderBatch batch);

  /** Disarms the timers of a batch; one that has fired is ignored. */
  void cancel(OrderBatch batch);

  /** How many timers are armed, exact once {@link #settle} has returned. */
  long pending();

  /** Waits until threads of the timers's own have taken up all that was asked for. */
  default void settle() {}

  /**
   * Hands out what is due, one bounded turn of it.
   *
   * @return whether there is more to do by that time
   * @throws UnsupportedOperationException if it goes by the machine's clock
   */
  default boolean advance(long nowMillis, int limit) {
    throw new UnsupportedOperationException("goes by the machine's clock");
  }

  /** Ends the timers's threads. */
  @Override
  default void close() {}
}
