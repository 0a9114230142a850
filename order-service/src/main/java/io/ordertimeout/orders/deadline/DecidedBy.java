package io.ordertimeout.orders.deadline;

/** What made an order leave {@code PENDING}. */
public enum DecidedBy {
  /** A payment. */
  PAYMENT,
  /** A closing by the shop or its customer. */
  CLOSING,
  /** The payment deadline. */
  EXPIRY,
  /** The order was first seen long after its deadline; nothing is told the shop. */
  STALE,
  /** Somebody who is answerable for the shop. */
  OPERATOR
}
