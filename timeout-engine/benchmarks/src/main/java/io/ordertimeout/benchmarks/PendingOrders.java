package io.ordertimeout.benchmarks;

import java.util.SplittableRandom;

/**
 * The pending orders of one benchmark thread. Their ids are random and their deadlines uniformly
 * distributed over 15 minutes that begin two minutes ahead, so that none is due during a
 * measurement.
 */
final class PendingOrders {

  static final long FIRST_DEADLINE_MILLIS = 120_000;
  static final long DEADLINES_MILLIS = 900_000;

  private final SplittableRandom random;
  private final long[] ids;
  private final OrderBatch scheduled;
  private final OrderBatch cancelled;

  /**
   * Creates an empty set of orders.
   *
   * @param size the number of pending orders after filling
   * @param batchSize the number of orders passed per call
   * @param seed the seed of the random numbers
   */
  PendingOrders(int size, int batchSize, long seed) {
    int capacity = Math.min(size, batchSize);
    random = new SplittableRandom(seed);
    ids = new long[size];
    scheduled = new OrderBatch(capacity);
    cancelled = new OrderBatch(capacity);
  }

  /** Schedules orders until all places are taken. */
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
   * Cancels one batch of random orders and schedules one batch of new ones.
   *
   * @return the number of pairs
   */
  int replace(TimerAdapter timers) {
    scheduled.clear();
    cancelled.clear();
    int capacity = scheduled.ids.length;
    int stratum = ids.length / capacity;
    for (int i = 0; i < capacity; i++) {
      // One from each part, so that a batch contains no order twice.
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

  private void schedule(int place) {
    ids[place] = random.nextLong();
    scheduled.add(place, ids[place], FIRST_DEADLINE_MILLIS + random.nextLong(DEADLINES_MILLIS));
  }
}
