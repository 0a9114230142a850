package io.ordertimeout.orders.relay;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.outbox.EventId;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.outbox.OutboxEvent.PaymentConflict;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * Turns events into Kafka records: JSON, keyed by order id, with the headers of CloudEvents 1.0
 * (Kafka protocol binding, binary content mode). Thread-safe.
 */
@Component
public class EventSerializer {

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record CancelledBody(
      UUID eventId,
      String orderId,
      String reason,
      @Nullable Instant createdAt,
      Instant deadline,
      Instant cancelledAt) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record ConflictBody(
      UUID eventId,
      String orderId,
      String paymentId,
      @Nullable Instant paidAt,
      @Nullable Instant deadline,
      @Nullable Instant cancelledAt,
      String kind) {}

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final OrderTimeoutProperties.Topics topics;
  private final String source;

  EventSerializer(OrderTimeoutProperties properties) {
    this.topics = properties.topics();
    this.source = properties.outbox().source();
  }

  /** Turns an event into a record. */
  public ProducerRecord<byte[], byte[]> serialize(OutboxEvent event) {
    UUID eventId = EventId.of(event);
    if (event instanceof PaymentConflict conflict) {
      return record(
          topics.conflict(),
          "io.ordertimeout.order-payment-conflict",
          event,
          eventId,
          body(eventId, conflict));
    }
    return record(
        topics.cancelled(),
        "io.ordertimeout.order-cancelled",
        event,
        eventId,
        body(eventId, (OrderCancelled) event));
  }

  private static CancelledBody body(UUID eventId, OrderCancelled event) {
    return new CancelledBody(
        eventId,
        event.orderId(),
        "PAYMENT_TIMEOUT",
        event.createdAt(),
        event.deadline(),
        event.cancelledAt());
  }

  private static ConflictBody body(UUID eventId, PaymentConflict event) {
    return new ConflictBody(
        eventId,
        event.orderId(),
        event.paymentId(),
        event.paidAt(),
        event.deadline(),
        event.cancelledAt(),
        event.isPaidInTime() ? "PAID_IN_TIME_DELIVERED_LATE" : "PAID_LATE");
  }

  private ProducerRecord<byte[], byte[]> record(
      String topic, String type, OutboxEvent event, UUID eventId, Object body) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, utf8(event.orderId()), JSON.writeValueAsBytes(body));
    record
        .headers()
        .add("ce_specversion", utf8("1.0"))
        .add("ce_id", utf8(eventId.toString()))
        .add("ce_type", utf8(type))
        .add("ce_source", utf8(source))
        .add("ce_time", utf8(event.envelope().writtenAt().toString()))
        .add("content-type", utf8("application/json"));
    return record;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
