package io.ordertimeout.orders.deadline;

import java.time.Instant;

/**
 * What the wheel needs of an order.
 *
 * @param id the row's id
 * @param shard the shard whose wheel holds it
 * @param deadlineMillis the deadline in milliseconds since the epoch, rounded up, so that the wheel
 *     is never early
 */
public record PendingOrder(long id, int shard, long deadlineMillis) {

  public static PendingOrder of(long id, int shard, Instant deadline) {
    return new PendingOrder(id, shard, millisRoundedUp(deadline));
  }

  static long millisRoundedUp(Instant deadline) {
    return deadline.plusNanos(999_999).toEpochMilli();
  }
}
