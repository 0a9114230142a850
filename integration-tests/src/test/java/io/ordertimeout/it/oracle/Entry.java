package io.ordertimeout.it.oracle;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One line in the history of an order: a committed record of Kafka. */
sealed interface Entry {

  Place place();

  /** When the broker appended it; whole milliseconds. */
  Instant appendedAt();

  /** What ends the wait for a payment. */
  sealed interface Settling extends Entry {

    /** When the shop was told that Kafka has it; null if it never was. */
    @Nullable Instant acknowledgedAt();
  }

  /** An order with the deadline that follows from its fields. */
  record Creation(Place place, Instant appendedAt, Instant createdAt, Instant deadline)
      implements Entry {}

  record Payment(
      Place place,
      Instant appendedAt,
      @Nullable Instant acknowledgedAt,
      String paymentId,
      Instant paidAt)
      implements Settling {}

  record Closing(Place place, Instant appendedAt, @Nullable Instant acknowledgedAt)
      implements Settling {}

  /**
   * A published cancellation.
   *
   * @param fault what is wrong with its form (key, headers), or null
   */
  record Cancellation(
      Place place,
      Instant appendedAt,
      String eventId,
      String reason,
      @Nullable Instant createdAt,
      @Nullable Instant deadline,
      @Nullable Instant cancelledAt,
      @Nullable String fault)
      implements Entry {}

  /**
   * A published conflict.
   *
   * @param fault what is wrong with its form (key, headers), or null
   */
  record Conflict(
      Place place,
      Instant appendedAt,
      String eventId,
      String paymentId,
      String kind,
      @Nullable Instant paidAt,
      @Nullable Instant deadline,
      @Nullable Instant cancelledAt,
      @Nullable String fault)
      implements Entry {}
}
