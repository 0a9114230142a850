package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoField;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Shops whose records are not the events themselves, connected by configuration alone. */
@Tag("faults")
class EventFormatsIT {

  @AutoClose private final Scenario scenario = Scenario.create();

  /** A table of orders and a table of payments with ids of its own, captured by Debezium. */
  @Test
  void changesOfTablesAreEvents() {
    try (Service service =
        scenario.startService(
            "order-timeout.intake.formats.created", "debezium",
            "order-timeout.intake.formats.paid", "debezium",
            "order-timeout.intake.formats.closed", "debezium",
            "order-timeout.intake.fields.order-id", "order_id",
            "order-timeout.intake.fields.created-at", "created_at",
            "order-timeout.intake.fields.pay-by", "pay_by",
            "order-timeout.intake.fields.payment-id", "id",
            "order-timeout.intake.fields.paid-at", "captured_at",
            "order-timeout.intake.fields.amount", "total",
            "order-timeout.intake.fields.currency", "currency",
            "order-timeout.expiry.watermark-scope", "all")) {
      service.awaitReady(true);
      Instant payBy = Scenario.in(Duration.ofSeconds(4));
      for (int order = 1; order <= 2 * Scenario.PARTITIONS; order++) {
        String row =
            """
            {"order_id":%d,"created_at":%d,"pay_by":%d,"total":"12.50","currency":"EUR"}"""
                .formatted(order, micros(payBy.minusSeconds(60)), payBy.toEpochMilli());
        send(scenario.topics().created(), order, "{\"order_id\":" + order + "}", change("c", row));
        // The row was updated since.
        send(scenario.topics().created(), order, "{\"order_id\":" + order + "}", change("u", row));
      }
      for (int order = 1; order <= Scenario.PARTITIONS; order++) {
        int payment = 1_000 + order;
        String row =
            "{\"id\":%d,\"order_id\":%d,\"captured_at\":%d}"
                .formatted(payment, order, micros(payBy.minusSeconds(1)));
        // In another partition than its order.
        send(scenario.topics().paid(), order + 1, "{\"id\":" + payment + "}", change("c", row));
        send(scenario.topics().paid(), order + 1, "{\"id\":" + payment + "}", change("d", "null"));
        send(scenario.topics().paid(), order + 1, "{\"id\":" + payment + "}", null);
      }

      scenario.awaitAllDecided();
      assertThat(scenario.outcomes().cancelled())
          .extracting(PublishedEvent::key)
          .containsExactlyInAnyOrder("4", "5", "6");
      assertThat(scenario.database().column("1", "payment_id")).isEqualTo("1001");
      assertThat(scenario.database().column("1", "amount")).isEqualTo("12.50");
      assertThat(service.counter("order.timeout.ignored.records"))
          .isEqualTo(2 * Scenario.PARTITIONS);
      assertThat(service.counter("order.timeout.dead.letters")).isZero();
    }
  }

  /** All events of the shop in one topic, as an outbox event router publishes them. */
  @Test
  void oneTopicHasEventsOfSeveralTypes() {
    String topic = scenario.topics().created();
    try (Service service =
        scenario.startService(
            "order-timeout.topics.paid", topic,
            "order-timeout.topics.closed", topic,
            "order-timeout.intake.formats.created", "outbox",
            "order-timeout.intake.types.created", "OrderPlaced",
            "order-timeout.intake.types.paid", "PaymentCaptured",
            "order-timeout.intake.types.closed", "OrderWithdrawn",
            "order-timeout.intake.types.ignored", "OrderShipped")) {
      service.awaitReady(true);
      assertChecked(service, topic);
      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        Instant payBy = Scenario.in(Duration.ofSeconds(4));
        outbox(partition, "doubtful-" + partition, "OrderPlaced", "\"payBy\":\"" + payBy + "\"");
        // A type that was added to the shop and not to the configuration: it may be a payment.
        outbox(partition, "doubtful-" + partition, "PaymentCapturedV2", "\"paymentId\":\"p\"");
        outbox(partition, "unpaid-" + partition, "OrderPlaced", "\"payBy\":\"" + payBy + "\"");
        outbox(partition, "unpaid-" + partition, "OrderShipped", "\"parcel\":1");
        // However long that takes, these are settled in time.
        Instant later = payBy.plusSeconds(3_600);
        outbox(partition, "paid-" + partition, "OrderPlaced", "\"payBy\":\"" + later + "\"");
        outbox(partition, "paid-" + partition, "PaymentCaptured", "\"paymentId\":\"p\"");
        outbox(partition, "closed-" + partition, "OrderPlaced", "\"payBy\":\"" + later + "\"");
        outbox(partition, "closed-" + partition, "OrderWithdrawn", "\"reason\":\"changed\"");
      }

      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        scenario.outcomes().awaitCancelled("unpaid-" + partition);
        scenario.awaitState("paid-" + partition, "PAID");
        scenario.awaitState("closed-" + partition, "CLOSED");
      }
      await("parked orders")
          .until(
              () ->
                  scenario.database().count("select count(*) from parked_order")
                      == Scenario.PARTITIONS);
      assertThat(scenario.outcomes().cancelled())
          .extracting(PublishedEvent::key)
          .containsExactlyInAnyOrder("unpaid-0", "unpaid-1", "unpaid-2");
      assertThat(scenario.database().state("doubtful-0")).isEqualTo("PENDING");
      assertThat(service.counter("order.timeout.ignored.records")).isEqualTo(Scenario.PARTITIONS);
      assertThat(service.counter("order.timeout.dead.letters")).isEqualTo(Scenario.PARTITIONS);
    }
  }

  /** Without any effect, an operator can see what records would become. */
  private static void assertChecked(Service service, String topic) {
    String lines =
        """
        {"topic":"%1$s","key":"o","headers":["eventType","OrderPlaced"],"payload":{"orderId":"o"}}

        {"topic":"%1$s","key":"o","headers":["eventType","OrderPaid"],"payload":"{\\"orderId\\":\\"o\\"}"}
        """
            .formatted(topic);
    JsonNode checked =
        service.http().operator().postText("/api/v1/events/check", lines).assertOk().json();
    assertThat(checked.path("counts"))
        .isEqualTo(JsonMapper.shared().readTree("{\"CREATED\":1,\"DEAD_LETTER\":1}"));
    assertThat(checked.at("/records/1/line").asInt()).isEqualTo(3);
    assertThat(checked.at("/records/1/outcome/fault").asString())
        .contains("its type is not listed in order-timeout.intake.types: OrderPaid");
    assertRefused(service, "", "body: has no records");
    assertRefused(service, "\n\nnonsense", "body: line 3: it is not JSON");
    assertRefused(service, "{}", "body: line 1: it has no topic");
    assertRefused(service, "{\"topic\":\"x\"}", "body: line 1: 'x' is not an input topic");
    assertThat(service.http().viewer().postText("/api/v1/events/check", lines).status())
        .isEqualTo(403);
  }

  private static void assertRefused(Service service, String lines, String why) {
    Http.Answer answer = service.http().operator().postText("/api/v1/events/check", lines);
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.json().path("detail").asString()).startsWith(why);
  }

  /** As the router writes it without a converter of its own: text with JSON, and a JSON key. */
  private void outbox(int partition, String order, String type, String field) {
    String event = "{\"orderId\":\"%s\",%s}".formatted(order, field);
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(
            scenario.topics().created(),
            partition,
            Shop.utf8('"' + order + '"'),
            Shop.utf8('"' + event.replace("\"", "\\\"") + '"'));
    record.headers().add("eventType", Shop.utf8(type));
    Shop.await(scenario.shop().send(record));
  }

  private static String change(String operation, String row) {
    return "{\"schema\":{},\"payload\":{\"before\":null,\"after\":%s,\"op\":\"%s\"}}"
        .formatted(row, operation);
  }

  private void send(String topic, int number, String key, @Nullable String value) {
    Shop.await(
        scenario
            .shop()
            .send(
                new ProducerRecord<>(
                    topic,
                    number % Scenario.PARTITIONS,
                    Shop.utf8(key),
                    value == null ? null : Shop.utf8(value))));
  }

  private static long micros(Instant time) {
    return TimeUnit.SECONDS.toMicros(time.getEpochSecond()) + time.get(ChronoField.MICRO_OF_SECOND);
  }
}
