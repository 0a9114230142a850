package io.ordertimeout.orders.access;

/** The roles of users of the HTTP API. */
enum Role {
  /** May read. */
  VIEWER,
  /** May read and make changes. */
  OPERATOR
}
