package io.ordertimeout.orders.order;

import java.time.Instant;

/**
 * A pending order as a wheel holds it.
 *
 * @param id the row's id
 * @param shard the shard whose wheel holds it
 * @param deadlineMillis the deadline in milliseconds since the epoch, rounded up, so that the wheel
 *     never fires early
 */
public record PendingOrder(long id, int shard, long deadlineMillis) {

  /** Rounds the deadline up. */
  public static PendingOrder of(long id, int shard, Instant deadline) {
    return new PendingOrder(id, shard, millisRoundedUp(deadline));
  }

  static long millisRoundedUp(Instant deadline) {
    return deadline.plusNanos(999_999).toEpochMilli();
  }
}
