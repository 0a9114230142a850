package io.ordertimeout.orders.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.outbox.OutboxEvent.Kind;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class EventIdTest {

  @Test
  void isTheSameForTheSameDecisionInAnyRow() {
    assertThat(id(1, Kind.ORDER_CANCELLED, "order-1", ""))
        .isEqualTo(id(2, Kind.ORDER_CANCELLED, "order-1", ""));
  }

  @Test
  void differsByKindOrderAndPayment() {
    assertThat(
            java.util.Set.of(
                id(1, Kind.ORDER_CANCELLED, "order-1", ""),
                id(1, Kind.ORDER_CANCELLED, "order-2", ""),
                id(1, Kind.ORDER_PAYMENT_CONFLICT, "order-1", ""),
                id(1, Kind.ORDER_PAYMENT_CONFLICT, "order-1", "a"),
                id(1, Kind.ORDER_PAYMENT_CONFLICT, "order-1", "b")))
        .hasSize(5);
  }

  @Test
  void separatesOrderIdAndPaymentId() {
    assertThat(id(1, Kind.ORDER_PAYMENT_CONFLICT, "ab", "c"))
        .isNotEqualTo(id(1, Kind.ORDER_PAYMENT_CONFLICT, "a", "bc"));
  }

  @Test
  void isANameBasedUuid() {
    UUID id = id(1, Kind.ORDER_CANCELLED, "order-1", "");

    assertThat(id.version()).isEqualTo(5);
    assertThat(id.variant()).isEqualTo(2);
  }

  @Test
  void neverChangesBetweenReleases() {
    // Consumers deduplicate by this id, including across upgrades of the service.
    assertThat(id(1, Kind.ORDER_CANCELLED, "order-1", ""))
        .isEqualTo(UUID.fromString("db7ee6b7-9359-5875-bcdd-ca237ba58506"));
  }

  private static UUID id(long row, Kind kind, String orderId, String paymentId) {
    return EventId.of(
        new OutboxEvent(
            row, kind, orderId, paymentId, 0, null, null, null, null, null, Instant.EPOCH));
  }
}
