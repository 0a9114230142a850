package io.ordertimeout.it.oracle;

/** A promise broken, with everything that is known of the order. */
public record Violation(Kind kind, String explanation, String history) {

  /** Which promise. */
  public enum Kind {
    /** An order, payment or closing that is not in the table, or a decision nobody was told of. */
    LOST,
    /** A decision or a publication before the deadline. */
    EARLY,
    /** More than one decision on an order, or a publication that the table denies. */
    DECIDED_TWICE,
    /** A payment appended before the deadline, and yet the order was cancelled. */
    PAID_YET_CANCELLED,
    CLOSED_YET_CANCELLED,
    CONFLICT_MISSING,
    /** One payment, several conflicts. */
    CONFLICT_TWICE,
    CONFLICT_UNFOUNDED,
    WRONG_FIELDS,
    /** A state that no record in Kafka accounts for. */
    UNFOUNDED,
    DEAD_LETTER_MISSING,
    DEAD_LETTER_UNFOUNDED,
    /** Not the service's: Kafka acknowledged a record and does not have it. */
    LOST_BY_KAFKA
  }

  @Override
  public String toString() {
    return kind + ": " + explanation + "\n" + history;
  }
}
