package io.ordertimeout.orders.order;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A payment or closure: after it an order needs no timeout. */
public sealed interface OrderSettled {

  /** The order's id, 1 to 128 characters. */
  String orderId();

  /** The partition that the event was read from. */
  int shard();

  /** The record's timestamp, which orders the events of one batch. */
  Instant recordedAt();

  /**
   * A payment.
   *
   * @param paymentId its id, or one derived from the record's position in its topic
   * @param paidAt when it was made
   */
  record Paid(String orderId, int shard, Instant recordedAt, String paymentId, Instant paidAt)
      implements OrderSettled {}

  /**
   * A closure elsewhere.
   *
   * @param reason why, if stated
   */
  record Closed(
      String orderId, int shard, Instant recordedAt, Instant closedAt, @Nullable String reason)
      implements OrderSettled {}
}
