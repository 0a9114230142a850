package io.ordertimeout.orders.order;

/** The state of an order. {@code PENDING} changes once, to one of the others, which are final. */
public enum OrderState {
  /** Not paid, its deadline armed. */
  PENDING,
  /** Paid before it was decided otherwise. */
  PAID,
  /** Closed elsewhere, or first read long after its deadline. */
  CLOSED,
  /** Its payment deadline passed without a payment. */
  CANCELLED
}
