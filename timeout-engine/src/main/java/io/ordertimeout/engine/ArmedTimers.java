package io.ordertimeout.engine;

/**
 * What was armed in one shard: everything, when {@link ShardedTimers#stop()} was called, or a page
 * of it, from {@link ShardedTimers#armed}. Immutable.
 */
public final class ArmedTimers {

  private final int shard;
  private final long[] ids;
  private final long[] deadlinesMillis;
  private final long nextCursor;

  /** Takes over both arrays, which are of the same length. */
  ArmedTimers(int shard, long[] ids, long[] deadlinesMillis, long nextCursor) {
    this.shard = shard;
    this.ids = ids;
    this.deadlinesMillis = deadlinesMillis;
    this.nextCursor = nextCursor;
  }

  /**
   * The shard of all these timers.
   *
   * @return the shard
   */
  public int shard() {
    return shard;
  }

  /**
   * How many timers there are.
   *
   * @return the number of timers, possibly 0
   */
  public int size() {
    return ids.length;
  }

  /**
   * The id of a timer. The timers come in no particular order.
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
   * @return the deadline in milliseconds
   * @throws IndexOutOfBoundsException if there is no such place
   */
  public long deadlineMillis(int i) {
    return deadlinesMillis[i];
  }

  /**
   * Where {@link ShardedTimers#armed} goes on.
   *
   * @return the cursor of the next page, 0 if no page follows
   */
  public long nextCursor() {
    return nextCursor;
  }

  /** Names the shard and the size; the ids may be many. */
  @Override
  public String toString() {
    return "ArmedTimers[shard=" + shard + ", size=" + ids.length + "]";
  }
}
