package io.ordertimeout.orders.order;

/** The cause that made an order leave {@code PENDING}. */
public enum DecidedBy {
  /** A payment. */
  PAYMENT,
  /** A closure by the shop or its customer. */
  CLOSING,
  /** The payment deadline. */
  EXPIRY,
  /** The order was first read long after its deadline; no event is published. */
  STALE,
  /** An operator. */
  OPERATOR
}
