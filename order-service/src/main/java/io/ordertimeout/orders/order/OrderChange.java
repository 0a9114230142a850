package io.ordertimeout.orders.order;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A change of a pending order. It replaces what it states, and nothing else.
 *
 * @param orderId the order's id, 1 to 128 characters
 * @param shard the partition that the event was read from
 * @param changedAt when the shop changed it
 * @param deadline its payment deadline from now on; null if that stays
 * @param setBy what sets the deadline, as in {@link PaymentTerms#policy}; null if that stays
 * @param policy the policy from which all but the deadline follows from now on; null if that stays
 * @param channel its sales channel from now on; null if that stays
 * @param paymentMethod its payment method from now on; null if that stays
 * @param amount what is to be paid from now on; null if that stays
 */
public record OrderChange(
    String orderId,
    int shard,
    Instant changedAt,
    @Nullable Instant deadline,
    @Nullable String setBy,
    @Nullable PaymentTerms policy,
    @Nullable String channel,
    @Nullable String paymentMethod,
    @Nullable Amount amount) {}
