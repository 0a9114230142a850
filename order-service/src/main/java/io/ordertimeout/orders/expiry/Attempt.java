package io.ordertimeout.orders.expiry;

import io.ordertimeout.engine.DueBatch;
import io.ordertimeout.orders.order.DueOrders;
import io.ordertimeout.orders.order.Watermark;
import java.time.Instant;
import java.util.List;
import java.util.stream.LongStream;

/**
 * A batch of a shard on its way to a decision.
 *
 * @param watermark the shard's watermark, which has passed all deadlines of the batch and was read
 *     after they had come due
 * @param dueAt when the wheel handed the batch out
 * @param passedAt when the watermark had passed it
 * @param isFirst whether the batch has not been attempted before
 */
record Attempt(
    DueBatch batch,
    Watermark watermark,
    Instant dueAt,
    Instant passedAt,
    Expiry.Rearm rearm,
    boolean isFirst) {

  int shard() {
    return batch.shard();
  }

  /**
   * Whether one statement may decide both: each watermark has passed the deadlines of both. What
   * has failed before is attempted alone, and so is what is left of a shard that was released and
   * acquired again.
   */
  boolean goesWith(Attempt other) {
    return isFirst
        && other.isFirst
        && shard() != other.shard()
        && watermark.isLike(other.watermark)
        && other.isPassedBy(watermark)
        && isPassedBy(other.watermark);
  }

  private boolean isPassedBy(Watermark other) {
    return batch.latestDeadlineMillis() <= other.time().toEpochMilli();
  }

  /** The orders of batches that go with each other. */
  static DueOrders orders(List<Attempt> attempts) {
    return new DueOrders(
        attempts.stream().mapToInt(Attempt::shard).toArray(),
        attempts.stream().flatMapToLong(a -> LongStream.of(a.batch.ids())).toArray(),
        attempts.stream().map(Attempt::watermark).reduce(Watermark::and).orElseThrow());
  }
}
