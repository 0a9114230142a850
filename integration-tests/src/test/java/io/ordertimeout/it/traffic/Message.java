package io.ordertimeout.it.traffic;

import java.time.Instant;
import java.util.Map;

/**
 * An event that the shop is going to send.
 *
 * @param at when
 * @param doneAt when its transaction ends; as {@code at} if it is in none
 */
record Message(
    Instant at,
    Input input,
    String orderId,
    Map<String, String> fields,
    Delivery delivery,
    Instant doneAt) {

  enum Input {
    CREATED,
    PAID,
    CLOSED
  }

  enum Delivery {
    PLAIN,
    COMMITTED,
    ABORTED
  }

  static Message plain(Instant at, Input input, String orderId, Map<String, String> fields) {
    return new Message(at, input, orderId, fields, Delivery.PLAIN, at);
  }

  Message inTransaction(Delivery delivery, Instant doneAt) {
    return new Message(at, input, orderId, fields, delivery, doneAt);
  }

  Message at(Instant time) {
    return new Message(time, input, orderId, fields, delivery, doneAt);
  }
}
