package io.ordertimeout.orders.deadline;

/** Where an order stands. {@code PENDING} becomes one of the others once; those never change. */
public enum OrderState {
  /** Not paid, its deadline armed. */
  PENDING,
  /** Paid before it was decided otherwise. */
  PAID,
  /** Closed elsewhere, or first seen long after its deadline. */
  CLOSED,
  /** Its payment deadline passed without a payment. */
  CANCELLED
}
