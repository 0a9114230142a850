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
  /** Due long after the test. */
  FAR_DEADLINE
}
