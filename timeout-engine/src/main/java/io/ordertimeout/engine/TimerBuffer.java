package io.ordertimeout.engine;

import java.util.Arrays;

/** A fixed-capacity buffer that collects the timers of one batch. */
final class TimerBuffer implements TimerHandler {

  private final long[] ids;
  private final long[] deadlinesMillis;
  private int size;

  TimerBuffer(int capacity) {
    ids = new long[capacity];
    deadlinesMillis = new long[capacity];
  }

  /** Accepts the timer if there is room. */
  @Override
  public boolean take(long id, long deadlineMillis) {
    if (size == ids.length) {
      return false;
    }
    ids[size] = id;
    deadlinesMillis[size] = deadlineMillis;
    size++;
    return true;
  }

  int size() {
    return size;
  }

  long id(int i) {
    return ids[i];
  }

  long deadlineMillis(int i) {
    return deadlinesMillis[i];
  }

  long[] ids() {
    return Arrays.copyOf(ids, size);
  }

  long[] deadlinesMillis() {
    return Arrays.copyOf(deadlinesMillis, size);
  }

  void clear() {
    size = 0;
  }
}
