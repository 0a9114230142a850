package io.ordertimeout.it.traffic;

/** What the shop does with an order. */
enum Fate {
  PAID,
  /** Aimed at the deadline, some before it, some after. */
  PAID_AT_DEADLINE,
  PAID_LATE,
  NEVER_PAID,
  CLOSED,
  CLOSED_AT_DEADLINE,
  /** Two payments of different ids, at any two times. */
  PAID_TWICE,
  /** A payment and a closing, all but together. */
  PAID_AND_CLOSED,
  PAID_BEFORE_CREATED,
  /** Never created. */
  PAID_ONLY,
  /** In a transaction, which may be open over the deadline. */
  PAID_IN_TRANSACTION,
  /** In a transaction that is aborted, which is no payment. */
  PAYMENT_ABORTED,
  /** Due long after the test. */
  FAR
}
