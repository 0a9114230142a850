package io.ordertimeout.local;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;

/** What the shop tells about one of its orders, as it stands in the record's JSON. */
sealed interface ShopEvent {
  String orderId();

  /** The order is placed; its customer has {@code timeout} from {@code createdAt} to pay. */
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
