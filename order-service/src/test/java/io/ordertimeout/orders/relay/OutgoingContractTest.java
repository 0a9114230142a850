package io.ordertimeout.orders.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.contract.EventSchema;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.Envelope;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderExpiring;
import io.ordertimeout.orders.outbox.OutboxEvent.PaymentConflict;
import io.ordertimeout.orders.platform.avro.AvroDecoder;
import io.ordertimeout.orders.platform.avro.UnusableAvroException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.avro.Schema;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Whatever the service publishes follows the published schemas, and no field is missing there. */
class OutgoingContractTest {

  private static final Instant TIME = Instant.parse("2026-05-01T12:00:00.000001Z");
  private static final Envelope ENVELOPE = new Envelope(7, "k-631", 2, null, TIME);

  private static final List<String> REQUIRED_HEADERS =
      EventSchema.document("asyncapi.json")
          .at("/components/schemas/cloudEventHeaders/required")
          .values()
          .stream()
          .map(JsonNode::asString)
          .toList();

  private final EventSerializer serializer = Serializers.of("binary");
  private final EventSerializer avro = Serializers.of("avro");

  @Test
  void structuredEventsHaveTheirAttributesAroundTheSameData() {
    OrderCancelled event = new OrderCancelled(ENVELOPE, TIME, TIME, TIME, TIME.plusMillis(5));
    ProducerRecord<byte[], byte[]> binary = serializer.serialize(event);

    ProducerRecord<byte[], byte[]> structured = Serializers.of("structured").serialize(event);

    JsonNode envelope = JsonMapper.shared().readTree(structured.value());
    assertThat(envelope.path("data")).isEqualTo(JsonMapper.shared().readTree(binary.value()));
    for (String attribute : List.of("specversion", "id", "type", "source", "time")) {
      assertThat(envelope.path(attribute).asString()).isEqualTo(header(binary, "ce_" + attribute));
    }
    assertThat(envelope.path("datacontenttype").asString())
        .isEqualTo(header(binary, "content-type"));
    assertThat(header(structured, "content-type")).startsWith("application/cloudevents+json");
    assertThat(structured.headers().toArray()).hasSize(1);
    assertThat(structured.key()).isEqualTo(binary.key());
  }

  private static String header(ProducerRecord<?, ?> record, String name) {
    return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
  }

  @Test
  void cancellations() {
    assertFollows(
        "order-cancelled",
        AvroEvents.CANCELLED,
        List.of(
            new OrderCancelled(ENVELOPE, TIME, TIME, TIME, TIME.plusMillis(5)),
            new OrderCancelled(ENVELOPE, null, TIME, TIME, Instant.parse("9999-12-31T23:59:59Z"))));
  }

  @Test
  void warnings() {
    assertFollows(
        "order-expiring",
        AvroEvents.EXPIRING,
        List.of(
            new OrderExpiring(ENVELOPE, 1, Duration.ofMinutes(10), TIME, TIME, TIME),
            new OrderExpiring(ENVELOPE, 2, Duration.ofSeconds(90), null, TIME, null)));
  }

  @Test
  void paymentConflicts() {
    assertFollows(
        "order-payment-conflict",
        AvroEvents.CONFLICT,
        List.of(
            new PaymentConflict(ENVELOPE, "p", TIME, TIME, TIME),
            new PaymentConflict(ENVELOPE, "p", TIME.plusMillis(1), TIME, null),
            new PaymentConflict(ENVELOPE, "x".repeat(256), null, null, null)));
  }

  private void assertFollows(String topic, Schema avroSchema, List<OutboxEvent> events) {
    EventSchema schema = EventSchema.of(topic);
    Set<String> published = new HashSet<>();
    for (OutboxEvent event : events) {
      ProducerRecord<byte[], byte[]> record = serializer.serialize(event);
      String json = new String(record.value(), StandardCharsets.UTF_8);
      assertThat(record.topic()).isEqualTo(topic);
      assertThat(record.headers())
          .extracting(Header::key)
          .containsExactlyInAnyOrderElementsOf(REQUIRED_HEADERS);
      assertThat(schema.faults(json)).as(json).isEmpty();
      assertIsSameInAvro(avro.serialize(event), avroSchema, record);
      published.addAll(JsonMapper.shared().readTree(json).propertyNames());
    }
    assertThat(published).isEqualTo(schema.fields());
    assertHasTheSameFields(avroSchema, EventSchema.document(topic + ".schema.json"));
  }

  private static void assertIsSameInAvro(
      ProducerRecord<byte[], byte[]> record, Schema schema, ProducerRecord<byte[], byte[]> json) {
    assertThat(ByteBuffer.wrap(record.value()).position(1).getInt())
        .isEqualTo(Serializers.SCHEMA_ID);
    JsonNode event = decoded(record.value(), schema);
    // Absent in JSON, null in Avro.
    ((ObjectNode) event).removeIf(JsonNode::isNull);
    // Numbers have other classes, whatever their value.
    assertThat(event).hasToString(JsonMapper.shared().readTree(json.value()).toString());
    assertThat(record.topic()).isEqualTo(json.topic());
    assertThat(record.key()).isEqualTo(json.key());
    assertThat(header(record, "content-type")).isEqualTo("application/avro");
    record.headers().remove("content-type");
    json.headers().remove("content-type");
    assertThat(record.headers()).isEqualTo(json.headers());
  }

  private static JsonNode decoded(byte[] value, Schema schema) {
    try {
      return AvroDecoder.decode(schema, value);
    } catch (UnusableAvroException e) {
      throw new AssertionError(e);
    }
  }

  private static void assertHasTheSameFields(Schema avro, JsonNode json) {
    assertThat(avro.getFullName()).isEqualTo("io.ordertimeout." + json.path("title").asString());
    assertThat(avro.getDoc()).isEqualTo(json.path("description").asString());
    List<String> required = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (Schema.Field field : avro.getFields()) {
      JsonNode property = json.path("properties").path(field.name());
      names.add(field.name());
      assertThat(String.valueOf(field.doc()))
          .isEqualTo(property.path("description").asString("null"));
      Schema type = field.schema();
      if (type.isNullable()) {
        type = type.getTypes().get(1);
      } else {
        required.add(field.name());
      }
      assertThat(kind(type)).as(field.name()).isEqualTo(kind(property));
    }
    assertThat(names).isEqualTo(Set.copyOf(json.path("properties").propertyNames()));
    assertThat(required)
        .containsExactlyInAnyOrderElementsOf(
            json.path("required").valueStream().map(JsonNode::stringValue).toList());
  }

  private static String kind(Schema type) {
    if (type.getType() == Schema.Type.ENUM) {
      return type.getEnumSymbols().toString();
    }
    return type.getLogicalType() == null ? "text" : type.getLogicalType().getName();
  }

  private static String kind(JsonNode property) {
    if (property.has("const")) {
      return "[" + property.path("const").asString() + "]";
    }
    if (property.has("enum")) {
      return property.path("enum").valueStream().map(JsonNode::stringValue).toList().toString();
    }
    return switch (property.path("format").asString("")) {
      case "uuid" -> "uuid";
      case "date-time" -> "timestamp-micros";
      default -> "text";
    };
  }
}
