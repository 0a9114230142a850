package io.ordertimeout.benchmarks;

/**
 * A timer implementation behind the interface that all benchmarks use.
 *
 * <p>Time begins at 0 ms. Implementations with simulated time stand still until {@link #advance}
 * moves it. The others use the machine's clock and treat a deadline as a delay from the call.
 */
interface TimerAdapter extends AutoCloseable {

  /** Arms the timers of a batch, none of which may be armed. */
  void schedule(OrderBatch batch);

  /** Cancels the timers of a batch. Expired ones are ignored. */
  void cancel(OrderBatch batch);

  /** Returns the number of armed timers, which is exact after {@link #settle} has returned. */
  long pending();

  /** Waits until the implementation's own threads have processed every request. */
  default void settle() {}

  /**
   * Expires due timers in one bounded turn.
   *
   * @return whether more work remains at that time
   * @throws UnsupportedOperationException if the implementation uses the machine's clock
   */
  default boolean advance(long nowMillis, int limit) {
    throw new UnsupportedOperationException("uses the machine's clock");
  }

  /** Stops the implementation's threads. */
  @Override
  default void close() {}
}
