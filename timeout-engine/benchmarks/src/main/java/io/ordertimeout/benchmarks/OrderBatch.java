package io.ordertimeout.benchmarks;

/** Some orders to schedule or to cancel: parallel arrays, used again and again. */
final class OrderBatch {

  final long[] ids;
  final long[] deadlinesMillis;

  /** Where the benchmark keeps the order, for contestants that hold handles instead of ids. */
  final int[] places;

  private int count;

  OrderBatch(int capacity) {
    ids = new long[capacity];
    deadlinesMillis = new long[capacity];
    places = new int[capacity];
  }

  void add(int place, long id, long deadlineMillis) {
    places[count] = place;
    ids[count] = id;
    deadlinesMillis[count] = deadlineMillis;
    count++;
  }

  int count() {
    return count;
  }

  boolean isFull() {
    return count == ids.length;
  }

  void clear() {
    count = 0;
  }
}
