package io.ordertimeout.engine;

/** What was armed in one shard when {@link ShardedTimers#stop()} was called. Immutable. */
public final class ArmedTimers {

  private final int shard;
  private final long[] ids;
  private final long[] deadlinesMillis;

  /** Takes over both arrays, which are of the same length. */
  ArmedTimers(int shard, long[] ids, long[] deadlinesMillis) {
    this.shard = shard;
    this.ids = ids;
    this.deadlinesMillis = deadlinesMillis;
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
   * How many timers were armed.
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

  /** Names the shard and the size; the ids may be many. */
  @Override
  public String toString() {
    return "ArmedTimers[shard=" + shard + ", size=" + ids.length + "]";
  }
}
