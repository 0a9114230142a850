package io.ordertimeout.orders.relay;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.outbox.EventId;
import io.ordertimeout.orders.outbox.OutboxEvent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * Makes Kafka records of events: JSON, keyed by order id, with the headers of CloudEvents 1.0
 * (Kafka protocol binding, binary content mode).
 */
@Component
class EventRecords {

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record OrderCancelled(
      UUID eventId,
      String orderId,
      String reason,
      @Nullable Instant createdAt,
      @Nullable Instant deadline,
      @Nullable Instant cancelledAt) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record OrderPaymentConflict(
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

  EventRecords(OrderTimeoutProperties properties) {
    this.topics = properties.topics();
    this.source = properties.outbox().source();
  }

  ProducerRecord<byte[], byte[]> record(OutboxEvent event) {
    UUID eventId = EventId.of(event);
    return switch (event.kind()) {
      case ORDER_CANCELLED ->
          record(
              topics.cancelled(),
              "io.ordertimeout.order-cancelled",
              event,
              eventId,
              new OrderCancelled(
                  eventId,
                  event.orderId(),
                  "PAYMENT_TIMEOUT",
                  event.createdAt(),
                  event.deadline(),
                  event.cancelledAt()));
      case ORDER_PAYMENT_CONFLICT ->
          record(
              topics.conflict(),
              "io.ordertimeout.order-payment-conflict",
              event,
              eventId,
              new OrderPaymentConflict(
                  eventId,
                  event.orderId(),
                  event.paymentId(),
                  event.paidAt(),
                  event.deadline(),
                  event.cancelledAt(),
                  conflictKind(event)));
    };
  }

  private static String conflictKind(OutboxEvent event) {
    boolean inTime =
        event.paidAt() != null
            && event.deadline() != null
            && !event.paidAt().isAfter(event.deadline());
    return inTime ? "PAID_IN_TIME_DELIVERED_LATE" : "PAID_LATE";
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
        .add("ce_time", utf8(event.writtenAt().toString()))
        .add("content-type", utf8("application/json"));
    return record;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
