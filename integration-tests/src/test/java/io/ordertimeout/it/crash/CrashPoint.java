package io.ordertimeout.it.crash;

/** A point between two steps of event processing at which a test ends the service. */
enum CrashPoint {
  /** The batch is read, but not stored. */
  BEFORE_STORE,
  /** Within the storing transaction, after the statement that registers orders. */
  ORDERS_WRITTEN,
  /** Within the storing transaction, after the statement that settles orders. */
  PAYMENTS_WRITTEN,
  /** The batch is stored, but not armed in the wheel. */
  STORED,
  /** The batch is stored and armed, but its offsets are not committed. */
  BEFORE_OFFSET_COMMIT,
  /** The offsets are committed. */
  OFFSETS_COMMITTED,
  /** A dead letter is in Kafka, but its batch is not committed. */
  DEAD_LETTER_SENT,
  /** Orders are due, but not decided. */
  BEFORE_DECISION,
  /** Orders are decided, but nothing is sent. */
  DECIDED,
  /** A cancellation is about to be handed to the producer. */
  BEFORE_SEND,
  /** Kafka has acknowledged a cancellation, but the service has not processed that. */
  ACKNOWLEDGED_UNSEEN,
  /** A cancellation is acknowledged, but that is not recorded. */
  BEFORE_PUBLICATION_RECORDED,
  /** The publication of a cancellation is recorded. */
  PUBLICATION_RECORDED,
  /** A conflict is stored, but not sent. */
  CONFLICT_STORED,
  /** A conflict is in Kafka, but that is not recorded. */
  CONFLICT_ACKNOWLEDGED,
  /** After the fifth page of a rebuild, when each shard has read its first one. */
  REBUILDING(5);

  private final int occurrence;

  CrashPoint() {
    this(1);
  }

  CrashPoint(int occurrence) {
    this.occurrence = occurrence;
  }

  /** The visit of this point at which the service ends, counted from 1. */
  int occurrence() {
    return occurrence;
  }
}
