package io.ordertimeout.it.crash;

/** A place between two steps of the way of an event, at which the service is made to die. */
enum CrashPoint {
  /** Read, not stored. */
  BEFORE_STORE,
  /** Within the storing transaction, behind the statement that registers orders. */
  ORDERS_WRITTEN,
  /** Within the storing transaction, behind the statement that settles orders. */
  PAYMENTS_WRITTEN,
  /** Stored; no wheel knows it. */
  STORED,
  /** Stored and armed; the offsets are not committed. */
  BEFORE_OFFSET_COMMIT,
  /** The offsets are committed. */
  OFFSETS_COMMITTED,
  /** A dead letter is in Kafka; its batch is not committed. */
  DEAD_LETTER_SENT,
  /** Due, not decided. */
  BEFORE_DECISION,
  /** Decided; nothing is sent. */
  DECIDED,
  /** Being handed to the producer; Kafka does not have it. */
  BEFORE_SEND,
  /** Kafka has it and has said so; the service has not heard it. */
  ACKNOWLEDGED_UNHEARD,
  /** Acknowledged; the outbox still has it. */
  BEFORE_OUTBOX_DELETE,
  /** Deleted from the outbox. */
  OUTBOX_DELETED,
  /** A conflict is stored; it is not sent. */
  CONFLICT_STORED,
  /** A conflict is in Kafka; the outbox still has it. */
  CONFLICT_ACKNOWLEDGED,
  /** Behind the second page of a rebuild: each of the shards has read its first one. */
  REBUILDING(5);

  private final int occurrence;

  CrashPoint() {
    this(1);
  }

  CrashPoint(int occurrence) {
    this.occurrence = occurrence;
  }

  /** At which time of coming here the service dies. */
  int occurrence() {
    return occurrence;
  }
}
