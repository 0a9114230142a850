package io.ordertimeout.it.oracle;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** An event in the history of an order: a committed record in Kafka. */
sealed interface HistoryEvent {

  RecordPosition position();

  /** When the broker appended the record, in whole milliseconds. */
  Instant appendedAt();

  /** A payment or a closing, which ends the wait for a payment. */
  sealed interface Settling extends HistoryEvent {

    /** When the producer received the acknowledgement; null if it never did. */
    @Nullable Instant acknowledgedAt();
  }

  /** An order with the deadline that its fields result in. */
  record Creation(RecordPosition position, Instant appendedAt, Instant createdAt, Instant deadline)
      implements HistoryEvent {}

  record Payment(
      RecordPosition position,
      Instant appendedAt,
      @Nullable Instant acknowledgedAt,
      String paymentId,
      Instant paidAt)
      implements Settling {}

  record Closing(RecordPosition position, Instant appendedAt, @Nullable Instant acknowledgedAt)
      implements Settling {}

  /**
   * A published cancellation.
   *
   * @param fault what is wrong with its key or headers, or null
   */
  record Cancellation(
      RecordPosition position,
      Instant appendedAt,
      String eventId,
      String reason,
      @Nullable Instant createdAt,
      @Nullable Instant deadline,
      @Nullable Instant cancelledAt,
      @Nullable String fault)
      implements HistoryEvent {}

  /**
   * A published conflict.
   *
   * @param fault what is wrong with its key or headers, or null
   */
  record Conflict(
      RecordPosition position,
      Instant appendedAt,
      String eventId,
      String paymentId,
      String kind,
      @Nullable Instant paidAt,
      @Nullable Instant deadline,
      @Nullable Instant cancelledAt,
      @Nullable String fault)
      implements HistoryEvent {}
}
