package io.ordertimeout.it.traffic;

import java.time.Instant;
import java.util.Map;

/**
 * An event with the time at which the shop sends it.
 *
 * @param at when it is sent
 * @param endsAt when its transaction ends; equal to {@code at} outside a transaction
 */
record ScheduledEvent(
    Instant at,
    Input input,
    String orderId,
    Map<String, String> fields,
    Delivery delivery,
    Instant endsAt) {

  enum Input {
    CREATED,
    PAID,
    CLOSED,
    ATTEMPT,
    CHANGED
  }

  enum Delivery {
    PLAIN,
    COMMITTED,
    ABORTED
  }

  static ScheduledEvent plain(Instant at, Input input, String orderId, Map<String, String> fields) {
    return new ScheduledEvent(at, input, orderId, fields, Delivery.PLAIN, at);
  }

  ScheduledEvent inTransaction(Delivery delivery, Instant endsAt) {
    return new ScheduledEvent(at, input, orderId, fields, delivery, endsAt);
  }

  ScheduledEvent at(Instant time) {
    return new ScheduledEvent(time, input, orderId, fields, delivery, endsAt);
  }
}
