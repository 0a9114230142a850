package io.ordertimeout.orders.order;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A created order.
 *
 * @param orderId its id, 1 to 128 characters
 * @param shard the partition it was read from
 * @param terms until when it may be paid
 * @param channel sales channel, if stated
 * @param paymentMethod payment method, if stated
 * @param amount what is to be paid, if stated
 * @param traceparent the parent of the order's spans, if it is traced
 */
public record OrderCreated(
    String orderId,
    int shard,
    Instant createdAt,
    PaymentTerms terms,
    @Nullable String channel,
    @Nullable String paymentMethod,
    @Nullable Amount amount,
    @Nullable String traceparent) {

  /** Returns the same order with the parent of its spans. */
  public OrderCreated tracedBy(String parent) {
    return new OrderCreated(
        orderId, shard, createdAt, terms, channel, paymentMethod, amount, parent);
  }
}
