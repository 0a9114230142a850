package io.ordertimeout.orders.platform.postgres;

import java.util.function.IntUnaryOperator;

/** Rows that the {@link Purge} deletes some time after they are over. */
public interface Purgeable {

  /** How many rows a transaction deletes at most. */
  int BATCH = 5_000;

  /** Deletes what is over long enough; O(what is deleted). Ends early when it is interrupted. */
  void purge();

  /**
   * Deletes batch by batch until one is not full.
   *
   * @param batch deletes at most the given number of rows and returns how many it has deleted
   * @return how many rows were deleted
   */
  static int inBatches(IntUnaryOperator batch) {
    int total = 0;
    int deleted;
    do {
      deleted = batch.applyAsInt(BATCH);
      total += deleted;
    } while (deleted == BATCH && !Thread.currentThread().isInterrupted());
    return total;
  }
}
