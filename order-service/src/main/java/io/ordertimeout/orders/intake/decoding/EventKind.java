package io.ordertimeout.orders.intake.decoding;

/** What an event tells about its order. */
enum EventKind {
  CREATED,
  PAID,
  CLOSED,
  ATTEMPT,
  CHANGED
}
