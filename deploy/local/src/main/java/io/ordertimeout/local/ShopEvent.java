package io.ordertimeout.local;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;

/** Event about one order that the shop publishes; the record components are the JSON fields. */
sealed interface ShopEvent {
  String orderId();

  /** An order was created; the customer has {@code timeout} from {@code createdAt} to pay. */
  record Created(
      String orderId,
      Instant createdAt,
      Duration timeout,
      String channel,
      String paymentMethod,
      Amount amount)
      implements ShopEvent {}

  record Paid(String orderId, String paymentId, Instant paidAt) implements ShopEvent {}

  record Closed(String orderId, Instant closedAt, String reason) implements ShopEvent {}

  record Amount(BigDecimal value, String currency) {}
}
