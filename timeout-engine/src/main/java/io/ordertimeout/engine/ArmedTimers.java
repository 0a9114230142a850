package io.ordertimeout.engine;

/**
 * An immutable snapshot of armed timers in one shard: all of them, as returned by {@link
 * ShardedTimers#stop()}, or one page of them, as returned by {@link ShardedTimers#armed}.
 */
public final class ArmedTimers {

  private final int shard;
  private final long[] ids;
  private final long[] deadlinesMillis;
  private final long nextCursor;

  /** Takes ownership of both arrays, which have the same length. */
  ArmedTimers(int shard, long[] ids, long[] deadlinesMillis, long nextCursor) {
    this.shard = shard;
    this.ids = ids;
    this.deadlinesMillis = deadlinesMillis;
    this.nextCursor = nextCursor;
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
   * @return the number of timers, possibly 0
   */
  public int size() {
    return ids.length;
  }

  /**
   * Returns the id of a timer. The timers are in no particular order.
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
   * @return the deadline in milliseconds
   * @throws IndexOutOfBoundsException if the index is out of range
   */
  public long deadlineMillis(int i) {
    return deadlinesMillis[i];
  }

  /**
   * Returns the cursor to pass to {@link ShardedTimers#armed} for the next page.
   *
   * @return the cursor of the next page, 0 if this is the last page
   */
  public long nextCursor() {
    return nextCursor;
  }

  /** Contains the shard and the size, but not the ids, because there may be millions. */
  @Override
  public String toString() {
    return "ArmedTimers[shard=" + shard + ", size=" + ids.length + "]";
  }
}
