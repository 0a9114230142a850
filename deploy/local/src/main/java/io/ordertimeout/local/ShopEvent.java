package io.ordertimeout.local;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

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

  /**
   * A payment is under way, or has ended.
   *
   * @param attemptId null for all payments of the order
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Attempt(String orderId, @Nullable String attemptId, String status) implements ShopEvent {

    static Attempt started(String orderId, String attemptId) {
      return new Attempt(orderId, attemptId, "STARTED");
    }

    static Attempt ended(String orderId, String attemptId) {
      return new Attempt(orderId, attemptId, "ENDED");
    }

    static Attempt allEnded(String orderId) {
      return new Attempt(orderId, null, "ENDED");
    }
  }

  /** The customer has {@code timeout} from {@code changedAt} to pay. */
  record Changed(String orderId, Instant changedAt, Duration timeout) implements ShopEvent {}

  record Amount(BigDecimal value, String currency) {}
}
