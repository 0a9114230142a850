package io.ordertimeout.orders.order;

import java.time.Instant;

/**
 * A pending order as a wheel holds it.
 *
 * @param id the row's id
 * @param shard the shard whose wheel holds it
 * @param stageMillis its next stage in milliseconds since the epoch, rounded up, so that the wheel
 *     never fires early
 */
public record PendingOrder(long id, int shard, long stageMillis) {

  /** Rounds the time of the next stage up. */
  static PendingOrder of(long id, int shard, Instant stage) {
    return new PendingOrder(id, shard, millisRoundedUp(stage));
  }

  static long millisRoundedUp(Instant stage) {
    return stage.plusNanos(999_999).toEpochMilli();
  }
}
