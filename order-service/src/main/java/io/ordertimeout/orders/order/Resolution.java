package io.ordertimeout.orders.order;

/** How a conflict has ended. */
public enum Resolution {
  /** The customer has the money back. */
  REFUNDED,
  /** The shop delivers nevertheless, under this order or another. */
  REACTIVATED,
  /** Nothing is to be done, for example because it was a test. */
  IGNORED
}
