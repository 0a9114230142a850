package io.ordertimeout.engine;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Due timers of one shard, handed out together by {@link ShardedTimers}. Thread-safe.
 *
 * <p>A shard has at most one batch that is not done, so whoever holds a batch holds back its shard,
 * and only that one. The timers are no longer armed: cancelling one of them does nothing,
 * scheduling one arms it anew.
 */
public final class DueBatch {

  /** One compare-and-set decides between the consumer's done() and the worker's taking it back. */
  private enum State {
    OPEN,
    DONE,
    REFUSED
  }

  private final int shard;
  private final long[] ids;
  private final long[] deadlinesMillis;
  private final WakeUp wakeUp;
  private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

  /** Takes over both arrays, which are of the same length and not empty. */
  DueBatch(int shard, long[] ids, long[] deadlinesMillis, WakeUp wakeUp) {
    this.shard = shard;
    this.ids = ids;
    this.deadlinesMillis = deadlinesMillis;
    this.wakeUp = wakeUp;
  }

  /**
   * The shard of all timers in the batch.
   *
   * @return the shard
   */
  public int shard() {
    return shard;
  }

  /**
   * How many timers there are.
   *
   * @return the number of timers, at least 1
   */
  public int size() {
    return ids.length;
  }

  /**
   * The id of a timer.
   *
   * @param i its place, from 0
   * @return the id
   * @throws IndexOutOfBoundsException if there is no such place
   */
  public long id(int i) {
    return ids[i];
  }

  /**
   * The deadline of a timer.
   *
   * @param i its place, from 0
   * @return the deadline in milliseconds, as it was scheduled
   * @throws IndexOutOfBoundsException if there is no such place
   */
  public long deadlineMillis(int i) {
    return deadlinesMillis[i];
  }

  /**
   * The ids of all timers.
   *
   * @return a copy
   */
  public long[] ids() {
    return ids.clone();
  }

  /**
   * The latest of the deadlines. O(size).
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
   * Says that the batch is dealt with, so that its shard may hand out the next. From any thread;
   * never waits. Calling it again does nothing, nor does calling it after the shard was dropped or
   * opened anew, or after the listener threw.
   */
  public void done() {
    if (state.compareAndSet(State.OPEN, State.DONE)) {
      wakeUp.raise();
    }
  }

  /** Takes the batch back from a listener that threw; false if it was done before. */
  boolean refuse() {
    return state.compareAndSet(State.OPEN, State.REFUSED);
  }

  boolean isOpen() {
    return state.get() == State.OPEN;
  }

  boolean isRefused() {
    return state.get() == State.REFUSED;
  }

  /** Names the shard and the size; the ids may be many. */
  @Override
  public String toString() {
    return "DueBatch[shard=" + shard + ", size=" + ids.length + ", " + state.get() + "]";
  }
}
