package io.ordertimeout.benchmarks;

/** A reusable batch of orders to schedule or cancel, stored in parallel arrays. */
final class OrderBatch {

  final long[] ids;
  final long[] deadlinesMillis;

  /**
   * The indexes of the orders in {@link PendingOrders}, for implementations that keep handles by
   * place.
   */
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
