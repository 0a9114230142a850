package io.ordertimeout.orders.expiry;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The batches that the watermark has passed and that wait to be decided, the earliest first. Those
 * that came due in the same moment are of different shards and arrive together, and are decided by
 * one statement. Thread-safe; bounded, because a shard has one batch at a time, and one more each
 * time that it is released meanwhile and acquired again.
 */
final class PassedBatches {

  private final Deque<Attempt> waiting = new ArrayDeque<>();
  private final int mostOrders;

  /**
   * Creates an empty queue.
   *
   * @param mostOrders how many orders one statement may decide
   */
  PassedBatches(int mostOrders) {
    this.mostOrders = mostOrders;
  }

  synchronized void add(Attempt attempt) {
    waiting.add(attempt);
  }

  synchronized boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Removes the first batch, and those behind it that go with it; none if none waits. */
  synchronized List<Attempt> next() {
    List<Attempt> together = new ArrayList<>();
    int orders = 0;
    for (Attempt next = waiting.peek(); next != null; next = waiting.peek()) {
      orders += next.batch().size();
      if (!together.isEmpty()
          && (orders > mostOrders || !together.stream().allMatch(next::goesWith))) {
        break;
      }
      together.add(waiting.remove());
    }
    return together;
  }
}
