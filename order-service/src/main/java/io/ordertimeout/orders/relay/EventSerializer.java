package io.ordertimeout.orders.relay;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.OrderTimeoutProperties.OutgoingFormat;
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
 * Turns events into Kafka records: JSON, keyed by order id, as CloudEvents 1.0 (Kafka protocol
 * binding) in binary or structured content mode. Thread-safe.
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

  /** A CloudEvent in structured mode. */
  private record Envelope(
      String specversion,
      UUID id,
      String type,
      String source,
      Instant time,
      String datacontenttype,
      Object data) {}

  private static final String VERSION = "1.0";
  private static final String JSON_DATA = "application/json";
  private static final String JSON_ENVELOPE = "application/cloudevents+json; charset=UTF-8";
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final OrderTimeoutProperties.Topics topics;
  private final String source;
  private final OutgoingFormat format;

  EventSerializer(OrderTimeoutProperties properties) {
    this.topics = properties.topics();
    this.source = properties.outbox().source();
    this.format = properties.outbox().format();
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
    if (format == OutgoingFormat.STRUCTURED) {
      Instant time = event.envelope().writtenAt();
      Envelope envelope = new Envelope(VERSION, eventId, type, source, time, JSON_DATA, body);
      ProducerRecord<byte[], byte[]> record = record(topic, event, envelope);
      record.headers().add("content-type", utf8(JSON_ENVELOPE));
      return record;
    }
    ProducerRecord<byte[], byte[]> record = record(topic, event, body);
    record
        .headers()
        .add("ce_specversion", utf8(VERSION))
        .add("ce_id", utf8(eventId.toString()))
        .add("ce_type", utf8(type))
        .add("ce_source", utf8(source))
        .add("ce_time", utf8(event.envelope().writtenAt().toString()))
        .add("content-type", utf8(JSON_DATA));
    return record;
  }

  private static ProducerRecord<byte[], byte[]> record(
      String topic, OutboxEvent event, Object value) {
    return new ProducerRecord<>(topic, utf8(event.orderId()), JSON.writeValueAsBytes(value));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
