package io.ordertimeout.orders.outbox;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** An event that is decided and committed, and is to be published. */
public sealed interface OutboxEvent {

  /**
   * What all events have.
   *
   * @param orderRow the id of the order's row
   * @param shard the order's shard
   * @param traceparent the parent of the event's spans, if the order is traced
   * @param writtenAt when the event was written to the outbox
   */
  record Envelope(
      long orderRow, String orderId, int shard, @Nullable String traceparent, Instant writtenAt) {}

  /** What all events have. */
  Envelope envelope();

  /**
   * What identifies an event, whichever row contains it.
   *
   * @param paymentId the payment of a conflict; for a warning, its number behind {@link
   *     #WARNING_MARK}; empty for a cancellation
   */
  record Key(String orderId, String paymentId) {}

  /** The character with which no id of a payment begins. */
  String WARNING_MARK = "\u0001";

  /** What identifies the event. */
  default Key key() {
    if (this instanceof OrderExpiring expiring) {
      return new Key(orderId(), WARNING_MARK + expiring.warning());
    }
    return new Key(orderId(), this instanceof PaymentConflict conflict ? conflict.paymentId() : "");
  }

  /** The id of the order's row. */
  default long orderRow() {
    return envelope().orderRow();
  }

  /** The order. */
  default String orderId() {
    return envelope().orderId();
  }

  /** The order's shard. */
  default int shard() {
    return envelope().shard();
  }

  /**
   * The cancellation of an order that was not paid by its deadline.
   *
   * @param createdAt when the order was created
   * @param deadline its payment deadline
   * @param dueAt when it could first be cancelled: after its deadline, all graces, and the payment
   *     attempts that held it; it is not published
   */
  record OrderCancelled(
      Envelope envelope,
      @Nullable Instant createdAt,
      Instant deadline,
      Instant dueAt,
      Instant cancelledAt)
      implements OutboxEvent {}

  /**
   * A warning: the order is cancelled soon unless it is paid.
   *
   * @param warning its number, from 1
   * @param leadTime how long before the deadline it is
   * @param createdAt when the order was created
   * @param deadline its payment deadline
   * @param confirmBy until when the order waits for a confirmation that nothing can be paid any
   *     more; null if it does not, or if another warning follows
   */
  record OrderExpiring(
      Envelope envelope,
      int warning,
      Duration leadTime,
      @Nullable Instant createdAt,
      Instant deadline,
      @Nullable Instant confirmBy)
      implements OutboxEvent {

    /** Returns when it was to be published. */
    public Instant dueAt() {
      return deadline.minus(leadTime);
    }
  }

  /**
   * The conflict between a payment and an order that is cancelled or closed.
   *
   * @param paidAt when it was made
   * @param deadline the order's payment deadline, if its creation is known
   * @param cancelledAt when the order was cancelled; null if it was closed
   */
  record PaymentConflict(
      Envelope envelope,
      String paymentId,
      @Nullable Instant paidAt,
      @Nullable Instant deadline,
      @Nullable Instant cancelledAt)
      implements OutboxEvent {

    /** Returns the kind of the conflict. */
    public ConflictKind kind() {
      return ConflictKind.of(paidAt, deadline);
    }
  }
}
