package io.ordertimeout.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A handle to a task scheduled on a {@link TaskTimer}. Thread-safe.
 *
 * <p>A task starts as waiting and ends as either cancelled or expired. Both are final.
 */
public final class ScheduledTask {

  private enum State {
    WAITING,
    CANCELLED,
    EXPIRED
  }

  private final TaskTimer timer;
  private final long id;
  private final Runnable task;
  private final long deadlineMillis;
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

  ScheduledTask(TaskTimer timer, long id, Runnable task, long deadlineMillis) {
    this.timer = timer;
    this.id = id;
    this.task = task;
    this.deadlineMillis = deadlineMillis;
  }

  /**
   * Cancels the task unless it has expired. O(1). Blocks only while the timer's queue is full.
   *
   * @return true if this call cancelled the task; false if it had already expired or been cancelled
   */
  public boolean cancel() {
    if (!state.compareAndSet(State.WAITING, State.CANCELLED)) {
      return false;
    }
    timer.disarm(id);
    return true;
  }

  /**
   * Returns whether the task was cancelled.
   *
   * @return true if it was cancelled and will never run
   */
  public boolean isCancelled() {
    return state.get() == State.CANCELLED;
  }

  /**
   * Returns whether the task has expired and can no longer be cancelled.
   *
   * @return true from just before the task runs
   */
  public boolean isExpired() {
    return state.get() == State.EXPIRED;
  }

  /**
   * Returns the task that was scheduled.
   *
   * @return the task
   */
  public Runnable task() {
    return task;
  }

  /**
   * Returns the time until the task is due, whether or not it was cancelled.
   *
   * @return the time, zero once the delay has elapsed
   */
  public Duration remaining() {
    return timer.timeUntil(deadlineMillis);
  }

  /** Marks the task as expired. Returns false if it was cancelled. */
  boolean expire() {
    return state.compareAndSet(State.WAITING, State.EXPIRED);
  }

  /** Contains the task and its state. */
  @Override
  public String toString() {
    return "ScheduledTask[" + task + ", " + state.get() + "]";
  }
}
