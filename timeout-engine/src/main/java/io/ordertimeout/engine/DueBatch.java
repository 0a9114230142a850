package io.ordertimeout.engine;

import java.util.concurrent.atomic.AtomicReference;

/**
 * A batch of due timers of one shard, delivered by {@link ShardedTimers}. Thread-safe.
 *
 * <p>A shard has at most one batch that is not done, so a consumer that keeps a batch holds back
 * that shard, and only that shard. The timers of a batch are no longer armed: cancelling one of
 * them has no effect, and scheduling one arms it again.
 */
public final class DueBatch {

  /** A single compare-and-set decides between done() by the consumer and reject() by the worker. */
  private enum State {
    OPEN,
    DONE,
    REJECTED
  }

  private final int shard;
  private final long[] ids;
  private final long[] deadlinesMillis;
  private final WakeUpFlag wakeUp;
  private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

  /** Takes ownership of both arrays, which have the same length and are not empty. */
  DueBatch(int shard, long[] ids, long[] deadlinesMillis, WakeUpFlag wakeUp) {
    this.shard = shard;
    this.ids = ids;
    this.deadlinesMillis = deadlinesMillis;
    this.wakeUp = wakeUp;
  }

  /**
   * Returns the shard that the timers belong to.
   *
   * @return the shard
   */
  public int shard() {
    return shard;
  }

  /**
   * Returns the number of timers.
   *
   * @return the number of timers, at least 1
   */
  public int size() {
    return ids.length;
  }

  /**
   * Returns the id of a timer.
   *
   * @param i the index, from 0
   * @return the id
   * @throws IndexOutOfBoundsException if the index is out of range
   */
  public long id(int i) {
    return ids[i];
  }

  /**
   * Returns the deadline of a timer.
   *
   * @param i the index, from 0
   * @return the deadline in milliseconds, as it was scheduled
   * @throws IndexOutOfBoundsException if the index is out of range
   */
  public long deadlineMillis(int i) {
    return deadlinesMillis[i];
  }

  /**
   * Returns the ids of all timers.
   *
   * @return a copy
   */
  public long[] ids() {
    return ids.clone();
  }

  /**
   * Returns the deadlines of all timers.
   *
   * @return a copy, in milliseconds
   */
  public long[] deadlinesMillis() {
    return deadlinesMillis.clone();
  }

  /**
   * Returns the latest of the deadlines. O(size).
   *
   * @return the deadline in milliseconds
   */
  public long latestDeadlineMillis() {
    long latest = Long.MIN_VALUE;
    for (long deadlineMillis : deadlinesMillis) {
      latest = Math.max(latest, deadlineMillis);
    }
    return latest;
  }

  /**
   * Marks the batch as processed, so that its shard may deliver the next one. May be called from
   * any thread and never blocks. Further calls have no effect, nor does a call after the shard was
   * dropped or reopened, or after the listener threw.
   */
  public void done() {
    if (state.compareAndSet(State.OPEN, State.DONE)) {
      wakeUp.raise();
    }
  }

  /** Takes the batch back after its listener threw. Returns false if the batch was already done. */
  boolean reject() {
    return state.compareAndSet(State.OPEN, State.REJECTED);
  }

  boolean isOpen() {
    return state.get() == State.OPEN;
  }

  boolean isRejected() {
    return state.get() == State.REJECTED;
  }

  /** Contains the shard and the size, but not the ids, because there may be many. */
  @Override
  public String toString() {
    return "DueBatch[shard=" + shard + ", size=" + ids.length + ", " + state.get() + "]";
  }
}
