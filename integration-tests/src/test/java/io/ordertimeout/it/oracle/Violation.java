package io.ordertimeout.it.oracle;

/** A broken promise, with the history of the order. */
public record Violation(Kind kind, String explanation, String history) {

  /** Which promise was broken. */
  public enum Kind {
    /** The table lacks an order, payment or closure, or a decision was never published. */
    LOST,
    /** A decision or a publication came before the deadline. */
    EARLY,
    /** A cancellation was published too long after the deadline. */
    LATE,
    /** An order has more than one decision, or the table contradicts a publication. */
    DECIDED_TWICE,
    /** A row was deleted, or changed in a way that is neither a decision nor allowed after one. */
    ROW_CHANGED,
    /** An order was cancelled although a payment was appended before the deadline. */
    PAID_YET_CANCELLED,
    CLOSED_YET_CANCELLED,
    /** An order was cancelled although a record before the deadline may have paid or closed it. */
    IN_DOUBT_YET_CANCELLED,
    /** An order was cancelled while a payment attempt was under way that was in time. */
    HELD_YET_CANCELLED,
    /** An order was decided by a deadline that a change in time had replaced, or pending by one. */
    CHANGE_OVERLOOKED,
    /** One warning of an order was published as several events. */
    WARNED_TWICE,
    /** A warning was published before its time. */
    WARNED_EARLY,
    /** An order was warned although a record before the warning's time may have settled it. */
    WARNED_AFTER_PAYMENT,
    /** A warning was decided after the deadline. */
    WARNED_LATE,
    CONFLICT_MISSING,
    /** One payment raised several conflicts. */
    CONFLICT_TWICE,
    UNEXPECTED_CONFLICT,
    WRONG_FIELDS,
    /** No record in Kafka explains the state. */
    UNEXPLAINED_STATE,
    DEAD_LETTER_MISSING,
    UNEXPECTED_DEAD_LETTER,
    /** The service has not finished its work within the patience. */
    NOT_QUIET,
    /** The run contains too few orders of a kind to prove anything; not the service's fault. */
    UNREPRESENTATIVE,
    /** Clocks differ by more than the judge allows; not the service's fault. */
    CLOCK_SKEW,
    /** Kafka acknowledged a record and does not have it; not the service's fault. */
    LOST_BY_KAFKA
  }

  @Override
  public String toString() {
    return kind + ": " + explanation + "\n" + history;
  }
}
