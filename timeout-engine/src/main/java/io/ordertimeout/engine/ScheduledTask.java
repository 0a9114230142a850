package io.ordertimeout.engine;

import java.util.concurrent.atomic.AtomicReference;

/**
 * A task that a {@link TaskTimer} runs once its time has come. Thread-safe.
 *
 * <p>It is waiting at first, and ends up either cancelled or expired, for good.
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
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

  ScheduledTask(TaskTimer timer, long id, Runnable task) {
    this.timer = timer;
    this.id = id;
    this.task = task;
  }

  /**
   * Keeps the task from running, unless it has expired. O(1); waits only while the timer's queue is
   * full.
   *
   * @return true if this call cancelled it; false if it had expired or been cancelled before
   */
  public boolean cancel() {
    if (!state.compareAndSet(State.WAITING, State.CANCELLED)) {
      return false;
    }
    timer.forget(id);
    return true;
  }

  /**
   * Whether the task was cancelled.
   *
   * @return true if it was, and so will never run
   */
  public boolean isCancelled() {
    return state.get() == State.CANCELLED;
  }

  /**
   * Whether the task's time has come and it was too late to cancel it.
   *
   * @return true from just before the task runs
   */
  public boolean isExpired() {
    return state.get() == State.EXPIRED;
  }

  /**
   * What was scheduled.
   *
   * @return the task as it was given
   */
  public Runnable task() {
    return task;
  }

  /** Makes the task expire; false if it was cancelled. */
  boolean expire() {
    return state.compareAndSet(State.WAITING, State.EXPIRED);
  }

  /** Names the task and how it is. */
  @Override
  public String toString() {
    return "ScheduledTask[" + task + ", " + state.get() + "]";
  }
}
