package io.ordertimeout.benchmarks;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Orders that arrive at a constant rate with a timeout of 15 minutes. Nine of ten are cancelled at
 * a uniformly random age and one expires. An order therefore stays pending for 495 seconds on
 * average, which determines the rate for a given number of pending orders.
 */
final class OrderStream {

  static final long TIMEOUT_MILLIS = 900_000;

  private static final long MEAN_STAY_MILLIS = 495_000;
  private static final int CANCELLED_OF_TEN = 9;
  private static final int NONE = -1;
  private static final long SEED = 7;

  private final SplittableRandom random = new SplittableRandom(SEED);
  private final TimerAdapter timers;
  private final OrderBatch arriving;
  private final OrderBatch leaving;
  private final long stepMillis;
  private final double ordersPerStep;

  /** The latest age at which an order is cancelled, in steps. */
  private final int lastStep;

  /** The heads of the lists of orders to cancel at each step, in a ring; NONE if empty. */
  private final int[] firstToCancel;

  /** The heads of the lists of orders that expire at each step, in a ring; NONE if empty. */
  private final int[] firstToExpire;

  /** The id of the order at each place. */
  private final long[] ids;

  /** The next place in the same list. Free places form a list as well. */
  private final int[] next;

  private int firstFree;

  private long step;
  private long scheduled;
  private long cancelled;

  OrderStream(int pending, long stepMillis, int batchSize, TimerAdapter timers) {
    this.timers = timers;
    this.stepMillis = stepMillis;
    this.ordersPerStep = (double) pending * stepMillis / MEAN_STAY_MILLIS;
    this.lastStep = (int) (TIMEOUT_MILLIS / stepMillis) - 1;
    this.arriving = new OrderBatch(batchSize);
    this.leaving = new OrderBatch(batchSize);
    this.firstToCancel = new int[lastStep + 3];
    this.firstToExpire = new int[lastStep + 3];
    Arrays.fill(firstToCancel, NONE);
    Arrays.fill(firstToExpire, NONE);
    this.ids = new long[pending + pending / 8 + 4096];
    this.next = new int[ids.length];
    for (int place = 0; place < next.length; place++) {
      next[place] = place + 1;
    }
    next[next.length - 1] = NONE;
  }

  /** Advances time step by step and records the duration of each turn. */
  void run(long millis, LatencyHistogram turns) {
    for (long end = step + millis / stepMillis; step < end; ) {
      step++;
      SimulatedTime.advance(timers, step * stepMillis, turns);
      int slot = (int) (step % firstToCancel.length);
      expireAll(slot);
      cancelAll(slot);
      scheduleAll();
    }
  }

  long scheduled() {
    return scheduled;
  }

  long cancelled() {
    return cancelled;
  }

  private void expireAll(int slot) {
    for (int place = firstToExpire[slot]; place != NONE; ) {
      int following = next[place];
      free(place);
      place = following;
    }
    firstToExpire[slot] = NONE;
  }

  private void cancelAll(int slot) {
    for (int place = firstToCancel[slot]; place != NONE; ) {
      int following = next[place];
      leaving.add(place, ids[place], 0);
      free(place);
      place = following;
      if (leaving.isFull()) {
        flushLeaving();
      }
    }
    firstToCancel[slot] = NONE;
    flushLeaving();
  }

  private void flushLeaving() {
    if (leaving.count() > 0) {
      timers.cancel(leaving);
      cancelled += leaving.count();
      leaving.clear();
    }
  }

  private void scheduleAll() {
    long due = (long) (step * ordersPerStep);
    while (scheduled + arriving.count() < due) {
      scheduleOne();
      if (arriving.isFull()) {
        flushArriving();
      }
    }
    flushArriving();
  }

  private void scheduleOne() {
    int place = firstFree;
    firstFree = next[place];
    long id = random.nextLong();
    ids[place] = id;
    // The order arrived at a random time within the step.
    long deadline = step * stepMillis + TIMEOUT_MILLIS - random.nextLong(stepMillis);
    arriving.add(place, id, deadline);
    if (random.nextInt(10) < CANCELLED_OF_TEN) {
      push(firstToCancel, 1 + random.nextInt(lastStep), place);
    } else {
      push(firstToExpire, lastStep + 2, place);
    }
  }

  private void push(int[] lists, int age, int place) {
    int slot = (int) ((step + age) % lists.length);
    next[place] = lists[slot];
    lists[slot] = place;
  }

  private void flushArriving() {
    if (arriving.count() > 0) {
      timers.schedule(arriving);
      scheduled += arriving.count();
      arriving.clear();
    }
  }

  private void free(int place) {
    next[place] = firstFree;
    firstFree = place;
  }
}
