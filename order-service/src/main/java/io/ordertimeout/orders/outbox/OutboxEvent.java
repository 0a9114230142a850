package io.ordertimeout.orders.outbox;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An event that was decided and committed, waiting to be published.
 *
 * @param id the row's id
 * @param kind what it tells
 * @param orderId the order
 * @param paymentId the payment in conflict, empty for other kinds
 * @param shard the order's shard
 * @param createdAt when the order was created, if known
 * @param deadline when it was to be paid by, if known
 * @param cancelledAt when it was cancelled, if it was
 * @param paidAt when it was paid, for a conflict
 * @param traceparent the one kept with the order, if it is traced
 * @param writtenAt when the event was written to the outbox
 */
public record OutboxEvent(
    long id,
    Kind kind,
    String orderId,
    String paymentId,
    int shard,
    @Nullable Instant createdAt,
    @Nullable Instant deadline,
    @Nullable Instant cancelledAt,
    @Nullable Instant paidAt,
    @Nullable String traceparent,
    Instant writtenAt) {

  /** What an event tells. */
  public enum Kind {
    /** An order was not paid by its deadline. */
    ORDER_CANCELLED,
    /** A payment found its order cancelled or closed. */
    ORDER_PAYMENT_CONFLICT
  }
}
