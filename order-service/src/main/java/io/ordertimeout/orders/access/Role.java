package io.ordertimeout.orders.access;

/** What somebody may do. */
enum Role {
  /** Look. */
  VIEWER,
  /** Look and change. */
  OPERATOR
}
