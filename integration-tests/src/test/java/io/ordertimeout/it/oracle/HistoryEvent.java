package io.ordertimeout.it.oracle;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** An event in the history of an order: a committed record in Kafka. */
sealed interface HistoryEvent {

  RecordPosition position();

  /** When the broker appended the record, in whole milliseconds. */
  Instant appendedAt();

  /** A record that forbids the cancellation of its order if it was in time. */
  sealed interface Settling extends HistoryEvent {

    /**
     * The earliest time, by this JVM's clock, at which the record was certainly visible: its
     * producer had the acknowledgement, or a consumer had read it.
     */
    Instant visibleBy();
  }

  /** An order with the deadline that its fields result in. */
  record Creation(RecordPosition position, Instant appendedAt, Instant createdAt, Instant deadline)
      implements HistoryEvent {}

  record Payment(
      RecordPosition position,
      Instant appendedAt,
      Instant visibleBy,
      String paymentId,
      Instant paidAt)
      implements Settling {}

  record Closing(RecordPosition position, Instant appendedAt, Instant visibleBy)
      implements Settling {}

  /**
   * A record in a topic of payments or closures that cannot be decoded and has the order's key: the
   * order may have been paid or closed.
   */
  record Doubt(RecordPosition position, Instant appendedAt, Instant visibleBy)
      implements Settling {}

  /**
   * An event of a payment attempt.
   *
   * @param attemptId its id; empty if it states none
   * @param until until when it is under way unless it ends before; null if it ends
   */
  record Attempt(
      RecordPosition position,
      Instant appendedAt,
      Instant visibleBy,
      String attemptId,
      @Nullable Instant until)
      implements HistoryEvent {}

  /** A change of the deadline. */
  record Change(RecordPosition position, Instant appendedAt, Instant visibleBy, Instant deadline)
      implements HistoryEvent {}

  /**
   * A published warning.
   *
   * @param decidedAt when it was written to the outbox
   * @param fault what is wrong with its key or headers, or null
   */
  record Warning(
      RecordPosition position,
      Instant appendedAt,
      String eventId,
      int number,
      Duration leadTime,
      Instant deadline,
      Instant decidedAt,
      @Nullable String fault)
      implements HistoryEvent {

    /** Before this time, by Postgres's clock, it must not be decided. */
    Instant time() {
      return deadline.minus(leadTime);
    }
  }

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
