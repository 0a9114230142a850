package io.ordertimeout.engine;

/** Changes of single timers of one shard, in their order, up to a fixed number. */
final class TimerRun {

  private static final int CAPACITY = 64;

  private final TimerChange[] changes = new TimerChange[CAPACITY];
  private final long[] ids = new long[CAPACITY];
  private int size;

  /** Adds a change; false if it is of another shard, or there is no room. */
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

  /** The shard of all changes, of which there has to be one. */
  int shard() {
    return changes[0].shard();
  }

  int size() {
    return size;
  }

  TimerChange change(int i) {
    return changes[i];
  }

  /** The ids, as many as there are changes. Not copied. */
  long[] ids() {
    return ids;
  }

  void clear() {
    size = 0;
  }
}
