package io.ordertimeout.orders.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.outbox.OutboxEvent.Envelope;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.outbox.OutboxEvent.PaymentConflict;
import java.time.Instant;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class EventIdTest {

  @Test
  void isTheSameForTheSameDecisionInAnyRow() {
    assertThat(EventId.of(cancelled(1, "order-1"))).isEqualTo(EventId.of(cancelled(2, "order-1")));
  }

  @Test
  void differsByKindOrderAndPayment() {
    assertThat(
            Set.of(
                EventId.of(cancelled(1, "order-1")),
                EventId.of(cancelled(1, "order-2")),
                EventId.of(conflict("order-1", "")),
                EventId.of(conflict("order-1", "a")),
                EventId.of(conflict("order-1", "b"))))
        .hasSize(5);
  }

  @Test
  void separatesTheOrderFromThePayment() {
    assertThat(EventId.of(conflict("ab", "c"))).isNotEqualTo(EventId.of(conflict("a", "bc")));
  }

  @Test
  void isANameBasedUuid() {
    UUID id = EventId.of(cancelled(1, "order-1"));

    assertThat(id.version()).isEqualTo(5);
    assertThat(id.variant()).isEqualTo(2);
  }

  @Test
  void neverChangesBetweenReleases() {
    // Consumers deduplicate by it, also across an update.
    assertThat(EventId.of(cancelled(1, "order-1")))
        .isEqualTo(UUID.fromString("db7ee6b7-9359-5875-bcdd-ca237ba58506"));
  }

  private static OutboxEvent cancelled(long row, String orderId) {
    return new OrderCancelled(
        envelope(row, orderId), null, Instant.EPOCH, Instant.EPOCH, Instant.EPOCH);
  }

  private static OutboxEvent conflict(String orderId, String paymentId) {
    return new PaymentConflict(envelope(1, orderId), paymentId, null, null, null);
  }

  private static Envelope envelope(long row, String orderId) {
    return new Envelope(row, orderId, 0, null, Instant.EPOCH);
  }
}
