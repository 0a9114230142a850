package io.ordertimeout.it.traffic;

/** The course of an order in the generated traffic. */
enum OrderFate {
  PAID,
  /** Paid close to the deadline, some before it, some after. */
  PAID_AT_DEADLINE,
  PAID_LATE,
  NEVER_PAID,
  CLOSED,
  CLOSED_AT_DEADLINE,
  /** Two payments with different ids at two random times. */
  PAID_TWICE,
  /** A payment and a closure at almost the same time. */
  PAID_AND_CLOSED,
  PAID_BEFORE_CREATED,
  /** Paid and never created. */
  PAID_ONLY,
  /** Paid in a transaction, which may still be open at the deadline. */
  PAID_IN_TRANSACTION,
  /** Paid in a transaction that is aborted, which is no payment. */
  PAYMENT_ABORTED,
  /** A payment is under way at the deadline, and succeeds after it. */
  PAID_SLOWLY,
  /** A payment is under way, and ends without success before the deadline or after it. */
  PAYMENT_FAILED,
  /** A payment is under way, and nobody says that it ends. */
  PAYMENT_ABANDONED,
  /** Two payments are under way, of which one ends and the other is renewed. */
  PAYMENTS_OVERLAP,
  /** A payment is under way before the creation is published. */
  ATTEMPTED_BEFORE_CREATED,
  /** The deadline is postponed before it comes, and the order is paid after it, or never. */
  POSTPONED,
  /** The deadline is postponed close to it, some before it, some after. */
  POSTPONED_AT_DEADLINE,
  /** The deadline is brought forward, and postponed again for half of the orders. */
  BROUGHT_FORWARD,
  /** The deadline is changed before the creation is published. */
  CHANGED_BEFORE_CREATED,
  /** Due long after the test. */
  FAR_DEADLINE
}
