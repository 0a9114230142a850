package io.ordertimeout.orders.order;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An order as operators see it.
 *
 * @param orderId its id
 * @param state its state
 * @param shard its shard
 * @param createdAt when it was created; null while only its payment or closure is known
 * @param deadline its payment deadline; null while its creation is not known, or if a policy
 *     exempts it
 * @param grace how long after its deadline its policy keeps it from being cancelled, if at all
 * @param confirm how long after its deadline it waits for a confirmation that nothing can be paid
 *     any more, if at all
 * @param policy what set the deadline: the order (PAY_BY, TIMEOUT) or the name of a policy
 * @param channel its sales channel, if stated
 * @param paymentMethod its payment method, if stated
 * @param amount what is to be paid, if stated
 * @param decidedAt when it left {@code PENDING}, or was registered as exempt
 * @param decidedBy what made it leave {@code PENDING}; null if a policy exempts it
 * @param paymentId the payment that settled it
 * @param lateByMillis how long after it was due it was cancelled, in milliseconds: after its
 *     deadline, all graces, and the payment attempts that held it; null if it was not cancelled, or
 *     if that is not known
 */
public record OrderView(
    String orderId,
    OrderState state,
    int shard,
    @Nullable Instant createdAt,
    @Nullable Instant deadline,
    @Nullable Duration grace,
    @Nullable Duration confirm,
    @Nullable String policy,
    @Nullable String channel,
    @Nullable String paymentMethod,
    @Nullable Money amount,
    @Nullable Instant decidedAt,
    @Nullable DecidedBy decidedBy,
    @Nullable String paymentId,
    @Nullable Long lateByMillis) {

  /** Whether a policy exempts it. */
  @JsonIgnore
  public boolean isExempt() {
    return state == OrderState.CLOSED && decidedBy == null;
  }

  /** When it is due, but for the grace of all orders; null if it has no deadline. */
  @JsonIgnore
  public @Nullable Instant dueAt() {
    return deadline == null || grace == null ? deadline : deadline.plus(grace);
  }
}
