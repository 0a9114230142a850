package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.deadline.Amount;
import io.ordertimeout.orders.deadline.DecidedBy;
import io.ordertimeout.orders.deadline.OrderDeadline;
import io.ordertimeout.orders.deadline.OrderState;
import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An order as it stands.
 *
 * @param orderId its id
 * @param state its state
 * @param shard its shard
 * @param createdAt when it was created; null while only its payment or closing is known
 * @param deadline when it is to be paid by
 * @param policy what set the deadline: the order (PAY_BY, TIMEOUT) or the name of a policy
 * @param channel its sales channel
 * @param paymentMethod its payment method
 * @param amount what is to be paid
 * @param decidedAt when it left {@code PENDING}
 * @param decidedBy what made it leave
 * @param paymentId the payment that settled it
 */
public record OrderView(
    String orderId,
    OrderState state,
    int shard,
    @Nullable Instant createdAt,
    @Nullable Instant deadline,
    @Nullable String policy,
    @Nullable String channel,
    @Nullable String paymentMethod,
    @Nullable Amount amount,
    @Nullable Instant decidedAt,
    @Nullable DecidedBy decidedBy,
    @Nullable String paymentId) {

  static OrderView of(OrderDeadline order) {
    BigDecimal value = order.amount();
    String currency = order.currency();
    return new OrderView(
        order.orderId(),
        order.state(),
        order.shard(),
        order.createdAt(),
        order.deadline(),
        order.policy(),
        order.channel(),
        order.paymentMethod(),
        value == null || currency == null ? null : new Amount(value, currency),
        order.decidedAt(),
        order.decidedBy(),
        order.paymentId());
  }
}
