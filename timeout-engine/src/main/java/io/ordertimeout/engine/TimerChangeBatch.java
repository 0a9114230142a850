package io.ordertimeout.engine;

/** A fixed-capacity batch of single-timer changes of one shard, in order. */
final class TimerChangeBatch {

  private static final int CAPACITY = 64;

  private final TimerChange[] changes = new TimerChange[CAPACITY];
  private final long[] ids = new long[CAPACITY];
  private int size;

  /** Adds a change. Returns false if it is for another shard or the batch is full. */
  boolean add(TimerChange change) {
    if (size == CAPACITY || (size > 0 && changes[0].shard() != change.shard())) {
      return false;
    }
    changes[size] = change;
    ids[size] = change.id();
    size++;
    return true;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Returns the shard of the changes. The batch must not be empty. */
  int shard() {
    return changes[0].shard();
  }

  int size() {
    return size;
  }

  TimerChange change(int i) {
    return changes[i];
  }

  /** Returns the ids, of which the first {@link #size} are valid. Not copied. */
  long[] ids() {
    return ids;
  }

  void clear() {
    size = 0;
  }
}
