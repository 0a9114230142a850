package io.ordertimeout.benchmarks;

import java.util.SplittableRandom;

/**
 * The pending orders of one benchmark thread: random ids, due uniformly over 15 minutes that begin
 * two minutes ahead, so that nothing is due while measuring.
 */
final class PendingOrders {

  static final long FIRST_DEADLINE_MILLIS = 120_000;
  static final long DEADLINES_MILLIS = 900_000;

  private final SplittableRandom random;
  private final long[] ids;
  private final OrderBatch scheduled;
  private final OrderBatch cancelled;

  /**
   * Makes an empty book.
   *
   * @param size how many orders are pending when it is full
   * @param batchSize how many orders a timers is given in a call
   * @param seed where the random numbers begin
   */
  PendingOrders(int size, int batchSize, long seed) {
    int capacity = Math.min(size, batchSize);
    random = new SplittableRandom(seed);
    ids = new long[size];
    scheduled = new OrderBatch(capacity);
    cancelled = new OrderBatch(capacity);
  }

  /** Schedules orders until the book is full. */
  void fill(TimerAdapter timers, StallMeter stalls) {
    stalls.start();
    for (int from = 0; from < ids.length; from += scheduled.count()) {
      scheduled.clear();
      for (int place = from; place < ids.length && !scheduled.isFull(); place++) {
        schedule(place);
      }
      timers.schedule(scheduled);
      stalls.called();
    }
  }

  /**
   * Cancels random orders and schedules as many new ones, one batch of each.
   *
   * @return how many pairs
   */
  int replace(TimerAdapter timers) {
    scheduled.clear();
    cancelled.clear();
    int capacity = scheduled.ids.length;
    int stratum = ids.length / capacity;
    for (int i = 0; i < capacity; i++) {
      // One from each part of the book, so that a batch holds no order twice.
      int place = i * stratum + random.nextInt(stratum);
      cancelled.add(place, ids[place], 0);
      schedule(place);
    }
    timers.cancel(cancelled);
    timers.schedule(scheduled);
    return capacity;
  }

  /** Cancels every order. */
  void cancelAll(TimerAdapter timers) {
    for (int place = 0; place < ids.length; ) {
      cancelled.clear();
      while (place < ids.length && !cancelled.isFull()) {
        cancelled.add(place, ids[place], 0);
        place++;
      }
      timers.cancel(cancelled);
    }
  }

  int size() {
    return ids.length;
  }

  /** The id of the order at a place. */
  long id(int place) {
    return ids[place];
  }

  private void schedule(int place) {
    ids[place] = random.nextLong();
    scheduled.add(place, ids[place], FIRST_DEADLINE_MILLIS + random.nextLong(DEADLINES_MILLIS));
  }
}
