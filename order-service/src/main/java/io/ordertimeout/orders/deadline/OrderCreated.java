package io.ordertimeout.orders.deadline;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An order that wants to be paid.
 *
 * @param orderId its id, 1 to 128 characters
 * @param shard the partition that it came from
 * @param createdAt when it was created
 * @param deadline when it is to be paid by, in whole microseconds
 * @param policy what set the deadline
 * @param channel sales channel, if stated
 * @param paymentMethod payment method, if stated
 * @param amount what is to be paid, if stated
 * @param traceparent the parent of what becomes of the order, if it is traced
 */
public record OrderCreated(
    String orderId,
    int shard,
    Instant createdAt,
    Instant deadline,
    String policy,
    @Nullable String channel,
    @Nullable String paymentMethod,
    @Nullable Amount amount,
    @Nullable String traceparent) {

  /** The same order, traced. */
  public OrderCreated tracedBy(String parent) {
    return new OrderCreated(
        orderId, shard, createdAt, deadline, policy, channel, paymentMethod, amount, parent);
  }
}
