package io.ordertimeout.engine;

import java.util.Arrays;

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
   * Takes a snapshot of a segment of an index, as far as the limit allows. Timers at the same
   * position cannot be separated by a cursor, so the page may exceed the limit.
   *
   * @param cursor a position of {@link TimerIndex#scanSegment}
   */
  static ArmedTimers page(int shard, TimerIndex index, TimerLists timers, int cursor, int limit) {
    long[] entries = index.scanSegment(cursor);
    int last = index.lastPositionOfSegment(cursor);
    int count = entries.length;
    if (count > limit) {
      Arrays.sort(entries);
      last = position(entries[limit - 1]);
      count = limit;
      while (count < entries.length && position(entries[count]) == last) {
        count++;
      }
    }
    long[] ids = new long[count];
    long[] deadlinesMillis = new long[count];
    for (int i = 0; i < count; i++) {
      int location = (int) entries[i];
      ids[i] = timers.id(location);
      deadlinesMillis[i] = timers.deadlineMillis(location);
    }
    // The cursor after the last position of all wraps to 0.
    return new ArmedTimers(shard, ids, deadlinesMillis, (last + 1) & Integer.MAX_VALUE);
  }

  private static int position(long entry) {
    return (int) (entry >>> 32);
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
