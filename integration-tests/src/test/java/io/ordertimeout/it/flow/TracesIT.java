package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.flow.OtlpReceiver.ReceivedSpan;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The trace of an order, from the span of its producer to the spans that a collector receives. */
@Order(20)
class TracesIT {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PRODUCER = "b7ad6b7169203331";
  private static final String SAMPLED = "00-" + TRACE + "-" + PRODUCER + "-01";
  private static final String NOT_SAMPLED = "00-" + TRACE + "-" + PRODUCER + "-00";

  private final Scenario scenario = Scenario.create();
  private final OtlpReceiver receiver;

  TracesIT() throws IOException {
    receiver = OtlpReceiver.start();
  }

  @AfterEach
  void close() {
    receiver.close();
    scenario.close();
  }

  @Test
  void aTraceLeadsFromTheCreationToACancellationByAnotherInstanceAndToAConflict() {
    RecordMetadata created;
    try (Service first = startTraced()) {
      first.awaitReady(true);
      created = create("order", SAMPLED, "PT1H");
      scenario.awaitState("order", "PENDING");
      scenario.awaitQuiet();
    }
    // A service that stops exports its last spans.
    assertThat(receiver.spans()).hasSize(1);
    assertThat(scenario.database().column("order", "traceparent")).contains(TRACE);
    Instant deadline = comesDue("order");

    PublishedEvent cancelled;
    PublishedEvent conflict;
    try (Service second = startTraced()) {
      cancelled = scenario.outcomes().awaitCancelled("order");
      scenario.shop().paid("order", "p");
      conflict = scenario.outcomes().awaitConflicts("order", 1).get(0);
      scenario.awaitQuiet();
      second.awaitReady(true);
    }

    // No others: neither HTTP requests nor background work are traced.
    List<ReceivedSpan> spans = receiver.spans();
    assertThat(spans).hasSize(4).allMatch(span -> span.traceId().equals(TRACE));
    ReceivedSpan takenIn = named("process " + scenario.topics().created());
    ReceivedSpan expired = named("expire");
    ReceivedSpan sent = named("send " + scenario.topics().cancelled());
    ReceivedSpan conflicted = named("send " + scenario.topics().conflict());
    assertThat(takenIn.parentId()).isEqualTo(PRODUCER);
    assertThat(List.of(expired, sent, conflicted))
        .allMatch(span -> span.parentId().equals(takenIn.id()));
    assertThat(cancelled.header("traceparent")).isEqualTo("00-" + TRACE + "-" + sent.id() + "-01");
    assertThat(conflict.header("traceparent"))
        .isEqualTo("00-" + TRACE + "-" + conflicted.id() + "-01");

    assertThat(takenIn.kind()).isEqualTo("CONSUMER");
    assertThat(takenIn.attributes())
        .isEqualTo(
            Map.of(
                "messaging.system",
                "kafka",
                "messaging.operation.name",
                "process",
                "messaging.operation.type",
                "process",
                "messaging.destination.name",
                scenario.topics().created(),
                "messaging.destination.partition.id",
                Integer.toString(created.partition()),
                "messaging.kafka.offset",
                Long.toString(created.offset()),
                "messaging.consumer.group.name",
                scenario.name(),
                "order.id",
                "order"));
    assertThat(expired.kind()).isEqualTo("INTERNAL");
    assertThat(expired.attributes()).isEqualTo(Map.of("order.id", "order"));
    assertThat(expired.start()).isEqualTo(deadline);
    assertThat(expired.end()).isEqualTo(cancelled.instant("cancelledAt"));
    assertThat(sent.kind()).isEqualTo("PRODUCER");
    assertThat(sent.attributes())
        .isEqualTo(
            Map.of(
                "messaging.system", "kafka",
                "messaging.operation.name", "send",
                "messaging.operation.type", "send",
                "messaging.destination.name", scenario.topics().cancelled(),
                "messaging.message.id", Objects.requireNonNull(cancelled.header("ce_id")),
                "order.id", "order"));
    assertThat(spans).allMatch(span -> !span.end().isBefore(span.start()));
  }

  @Test
  void aTraceBeginsWithTheOrderIfTheRecordCarriesNoneOrAnInvalidOne() {
    try (Service service = startTraced()) {
      scenario.shop().created("silent", Map.of("timeout", "PT0.2S"));
      create("garbled", "00-" + TRACE + "-" + PRODUCER, "PT0.2S");

      for (String order : List.of("silent", "garbled")) {
        assertThat(scenario.outcomes().awaitCancelled(order).header("traceparent"))
            .matches("00-[0-9a-f]{32}-[0-9a-f]{16}-0[13]")
            .doesNotContain(TRACE);
      }
      scenario.awaitQuiet();
      service.awaitReady(true);
    }
    assertThat(scenario.outcomes().deadLetters()).isEmpty();
    assertThat(receiver.spans()).hasSize(2 * 3);
    assertThat(receiver.spans())
        .filteredOn(span -> span.name().startsWith("process"))
        .hasSize(2)
        .allMatch(span -> span.parentId().isEmpty());
  }

  @Test
  void nothingIsStoredOrExportedForAnUnsampledOrder() {
    try (Service service = startTraced()) {
      create("order", NOT_SAMPLED, "PT0.2S");
      assertThat(scenario.outcomes().awaitCancelled("order").header("traceparent")).isNull();
      scenario.awaitQuiet();
      service.awaitReady(true);
    }
    assertThat(scenario.database().column("order", "traceparent")).isNull();
    assertThat(receiver.requests()).isZero();
  }

  @Test
  void tracesAreDisabledByDefault() {
    try (Service service =
        scenario.startService(
            "management.opentelemetry.tracing.export.otlp.endpoint",
            receiver.endpoint(),
            "management.tracing.sampling.probability",
            "1")) {
      create("order", SAMPLED, "PT0.2S");
      assertThat(scenario.outcomes().awaitCancelled("order").header("traceparent")).isNull();
      scenario.awaitQuiet();
      service.awaitReady(true);
    }
    assertThat(scenario.database().column("order", "traceparent")).isNull();
    assertThat(receiver.requests()).isZero();
  }

  @Test
  @Tag("faults")
  void anUnavailableCollectorDelaysNoOrder() {
    receiver.close();
    try (Service service = startTraced()) {
      create("order", SAMPLED, "PT0.2S");
      assertThat(scenario.outcomes().awaitCancelled("order").header("traceparent")).contains(TRACE);
      scenario.awaitQuiet();
      service.awaitReady(true);
    }
  }

  private Service startTraced() {
    return scenario.startService(
        "management.tracing.export.enabled",
        "true",
        "management.opentelemetry.tracing.export.otlp.endpoint",
        receiver.endpoint(),
        "management.tracing.sampling.probability",
        "1");
  }

  private RecordMetadata create(String orderId, String traceparent, String timeout) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(
            scenario.topics().created(),
            Shop.utf8(orderId),
            Shop.json(Map.of("orderId", orderId, "timeout", timeout)));
    record.headers().add("traceparent", Shop.utf8(traceparent));
    return Shop.await(scenario.shop().send(record));
  }

  /** Lets the deadline pass while no instance runs. */
  private Instant comesDue(String orderId) {
    scenario
        .database()
        .execute(
            "update order_deadline set deadline = clock_timestamp() where order_id = ?", orderId);
    Instant deadline = Objects.requireNonNull(scenario.database().deadline(orderId));
    scenario.awaitPast(deadline);
    return deadline;
  }

  private ReceivedSpan named(String name) {
    List<ReceivedSpan> spans =
        receiver.spans().stream().filter(span -> span.name().equals(name)).toList();
    assertThat(spans).as(name).hasSize(1);
    return spans.get(0);
  }
}
