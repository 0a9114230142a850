package io.ordertimeout.orders.relay;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.OrderTimeoutProperties.OutgoingFormat;
import io.ordertimeout.orders.outbox.ConflictKind;
import io.ordertimeout.orders.outbox.EventId;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderExpiring;
import io.ordertimeout.orders.outbox.OutboxEvent.PaymentConflict;
import io.ordertimeout.orders.platform.avro.SchemaRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * Turns events into Kafka records: JSON or Avro, keyed by order id, as CloudEvents 1.0 (Kafka
 * protocol binding) in binary or, in JSON, structured content mode. Thread-safe.
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
      ConflictKind kind) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record ExpiringBody(
      UUID eventId,
      String orderId,
      int warning,
      Duration leadTime,
      @Nullable Instant createdAt,
      Instant deadline,
      @Nullable Instant confirmBy) {}

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
  private static final String AVRO_DATA = "application/avro";
  private static final String JSON_ENVELOPE = "application/cloudevents+json; charset=UTF-8";
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final OrderTimeoutProperties.Topics topics;
  private final String source;
  private final OutgoingFormat format;
  private final SchemaRegistry registry;

  /** The ids of the schemas in the registry, by topic, once they are registered. */
  private final Map<String, Integer> schemaIds = new ConcurrentHashMap<>();

  EventSerializer(OrderTimeoutProperties properties, SchemaRegistry registry) {
    this.registry = registry;
    this.topics = properties.topics();
    this.source = properties.outbox().source();
    this.format = properties.outbox().format();
  }

  /**
   * Prepares for events of a topic: in Avro, their schema must be registered.
   *
   * @return completes on any thread; exceptionally if it has to be repeated
   */
  public CompletableFuture<?> prepare(String topic) {
    if (format != OutgoingFormat.AVRO || schemaIds.containsKey(topic)) {
      return CompletableFuture.completedFuture(null);
    }
    return registry
        .register(topic + "-value", schema(topic))
        .thenAccept(id -> schemaIds.put(topic, id));
  }

  private Schema schema(String topic) {
    if (topic.equals(topics.expiring())) {
      return AvroEvents.EXPIRING;
    }
    return topic.equals(topics.conflict()) ? AvroEvents.CONFLICT : AvroEvents.CANCELLED;
  }

  /** Turns an event into a record; its topic must be {@linkplain #prepare prepared}. */
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
    if (event instanceof OrderExpiring expiring) {
      return record(
          topics.expiring(),
          "io.ordertimeout.order-expiring",
          event,
          eventId,
          body(eventId, expiring));
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

  private static ExpiringBody body(UUID eventId, OrderExpiring event) {
    return new ExpiringBody(
        eventId,
        event.orderId(),
        event.warning(),
        event.leadTime(),
        event.createdAt(),
        event.deadline(),
        event.confirmBy());
  }

  private static ConflictBody body(UUID eventId, PaymentConflict event) {
    return new ConflictBody(
        eventId,
        event.orderId(),
        event.paymentId(),
        event.paidAt(),
        event.deadline(),
        event.cancelledAt(),
        event.kind());
  }

  private ProducerRecord<byte[], byte[]> record(
      String topic, String type, OutboxEvent event, UUID eventId, Object body) {
    if (format == OutgoingFormat.STRUCTURED) {
      Instant time = event.envelope().writtenAt();
      Envelope envelope = new Envelope(VERSION, eventId, type, source, time, JSON_DATA, body);
      ProducerRecord<byte[], byte[]> record = record(topic, event, json(envelope));
      record.headers().add("content-type", utf8(JSON_ENVELOPE));
      return record;
    }
    boolean isAvro = format == OutgoingFormat.AVRO;
    ProducerRecord<byte[], byte[]> record =
        record(topic, event, isAvro ? avro(topic, body) : json(body));
    record
        .headers()
        .add("ce_specversion", utf8(VERSION))
        .add("ce_id", utf8(eventId.toString()))
        .add("ce_type", utf8(type))
        .add("ce_source", utf8(source))
        .add("ce_time", utf8(event.envelope().writtenAt().toString()))
        .add("content-type", utf8(isAvro ? AVRO_DATA : JSON_DATA));
    return record;
  }

  private static ProducerRecord<byte[], byte[]> record(
      String topic, OutboxEvent event, byte[] value) {
    return new ProducerRecord<>(topic, utf8(event.orderId()), value);
  }

  private static byte[] json(Object value) {
    return JSON.writeValueAsBytes(value);
  }

  private byte[] avro(String topic, Object body) {
    int id = Objects.requireNonNull(schemaIds.get(topic), "the schema is not registered");
    return AvroEvents.encode(id, schema(topic), JSON.valueToTree(body));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
