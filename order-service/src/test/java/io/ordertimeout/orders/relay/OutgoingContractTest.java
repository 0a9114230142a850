package io.ordertimeout.orders.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.contract.EventSchema;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.Envelope;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.outbox.OutboxEvent.PaymentConflict;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

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

  private final EventSerializer serializer = serializer("binary");

  private static EventSerializer serializer(String format) {
    return new EventSerializer(
        new Binder(
                new MapConfigurationPropertySource(Map.of("order-timeout.outbox.format", format)))
            .bindOrCreate("order-timeout", OrderTimeoutProperties.class));
  }

  @Test
  void structuredEventsHaveTheirAttributesAroundTheSameData() {
    OrderCancelled event = new OrderCancelled(ENVELOPE, TIME, TIME, TIME.plusMillis(5));
    ProducerRecord<byte[], byte[]> binary = serializer.serialize(event);

    ProducerRecord<byte[], byte[]> structured = serializer("structured").serialize(event);

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
        List.of(
            new OrderCancelled(ENVELOPE, TIME, TIME, TIME.plusMillis(5)),
            new OrderCancelled(ENVELOPE, null, TIME, Instant.parse("9999-12-31T23:59:59Z"))));
  }

  @Test
  void paymentConflicts() {
    assertFollows(
        "order-payment-conflict",
        List.of(
            new PaymentConflict(ENVELOPE, "p", TIME, TIME, TIME),
            new PaymentConflict(ENVELOPE, "p", TIME.plusMillis(1), TIME, null),
            new PaymentConflict(ENVELOPE, "x".repeat(256), null, null, null)));
  }

  private void assertFollows(String topic, List<OutboxEvent> events) {
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
      published.addAll(JsonMapper.shared().readTree(json).propertyNames());
    }
    assertThat(published).isEqualTo(schema.fields());
  }
}
