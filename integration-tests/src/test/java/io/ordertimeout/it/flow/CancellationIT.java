package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The decision about orders that are unpaid, paid or closed at their payment deadline. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CancellationIT {

  @AutoClose private final Scenario scenario = Scenario.create();

  private CompletableFuture<RecordMetadata> sent = new CompletableFuture<>();

  CancellationIT() {
    scenario.startService(
        "order-timeout.deadline.default-timeout", "1s",
        "order-timeout.deadline.policies[0].name", "counter",
        "order-timeout.deadline.policies[0].channel", "POS",
        "order-timeout.deadline.policies[0].timeout", "1s",
        "order-timeout.outbox.source", "/shops/north");
  }

  @Test
  void anUnpaidOrderIsCancelledOnceAndNotBeforeItsDeadline() {
    Instant createdAt = now();
    scenario
        .shop()
        .created("unpaid", Map.of("createdAt", createdAt.toString(), "timeout", "PT1.5S"));

    PublishedEvent event = scenario.outcomes().awaitCancelled("unpaid");
    scenario.awaitQuiet();

    Instant deadline = createdAt.plusMillis(1_500);
    assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(deadline);
    assertThat(event.appendedAt()).isAfterOrEqualTo(deadline);
    assertThat(scenario.outcomes().cancelled("unpaid")).hasSize(1);
    assertThat(scenario.database().state("unpaid")).isEqualTo("CANCELLED");
  }

  @Test
  void aCancellationCarriesAllFieldsAndHeaders() {
    Instant createdAt = now();
    scenario
        .shop()
        .created("complete", Map.of("createdAt", createdAt.toString(), "timeout", "PT1S"));

    PublishedEvent event = scenario.outcomes().awaitCancelled("complete");

    assertThat(event.body().propertyNames())
        .containsExactlyInAnyOrder(
            "eventId", "orderId", "reason", "createdAt", "deadline", "cancelledAt");
    assertThat(event.text("orderId")).isEqualTo("complete").isEqualTo(event.key());
    assertThat(event.text("reason")).isEqualTo("PAYMENT_TIMEOUT");
    assertThat(event.instant("createdAt")).isEqualTo(createdAt);
    assertThat(event.instant("deadline")).isEqualTo(createdAt.plusSeconds(1));
    assertThat(event.instant("cancelledAt"))
        .isBetween(createdAt.plusSeconds(1), scenario.database().now());
    String eventId = event.text("eventId");
    assertThat(UUID.fromString(eventId)).hasToString(eventId);
    assertThat(event.header("ce_id")).isEqualTo(eventId);
    assertThat(event.header("ce_type")).isEqualTo("io.ordertimeout.order-cancelled");
    assertThat(event.header("ce_source")).isEqualTo("/shops/north");
    assertThat(event.header("ce_specversion")).isEqualTo("1.0");
    assertThat(Instant.parse(event.header("ce_time")))
        .isBetween(event.instant("cancelledAt"), scenario.database().now());
    assertThat(event.header("content-type")).isEqualTo("application/json");
  }

  @Test
  void anOrderMayStateItsDeadline() {
    Instant payBy = now().plusMillis(1_200);
    scenario.shop().created("pay-by", Map.of("payBy", payBy.toString(), "timeout", "PT1H"));

    assertThat(scenario.outcomes().awaitCancelled("pay-by").instant("deadline")).isEqualTo(payBy);
    assertThat(scenario.database().column("pay-by", "policy")).isEqualTo("PAY_BY");
  }

  @Test
  void anOrderMayStateItsTimeout() {
    Instant createdAt = now();
    scenario
        .shop()
        .created(
            "timeout",
            Map.of("createdAt", createdAt.toString(), "timeout", "PT0.5S", "channel", "POS"));

    assertThat(scenario.outcomes().awaitCancelled("timeout").instant("deadline"))
        .isEqualTo(createdAt.plusMillis(500));
    assertThat(scenario.database().column("timeout", "policy")).isEqualTo("TIMEOUT");
  }

  @Test
  void aPolicyAppliesToItsChannel() {
    Instant createdAt = now();
    scenario.shop().created("policy", Map.of("createdAt", createdAt.toString(), "channel", "POS"));

    assertThat(scenario.outcomes().awaitCancelled("policy").instant("deadline"))
        .isEqualTo(createdAt.plusSeconds(1));
    assertThat(scenario.database().column("policy", "policy")).isEqualTo("counter");
  }

  @Test
  void theDefaultTimeoutCountsFromTheTimestampOfTheRecord() {
    Instant appended =
        Instant.ofEpochMilli(
            scenario.shop().created("default", Map.of("channel", "WEB")).timestamp());

    PublishedEvent event = scenario.outcomes().awaitCancelled("default");
    assertThat(event.instant("createdAt")).isEqualTo(appended);
    assertThat(event.instant("deadline")).isEqualTo(appended.plus(Duration.ofSeconds(1)));
    assertThat(scenario.database().column("default", "policy")).isEqualTo("DEFAULT");
  }

  @Test
  void anOrderPaidInTimeIsNotCancelled() {
    send(scenario.topics().created(), "paid", Map.of("timeout", "PT2S"));
    send(scenario.topics().paid(), "paid", Map.of("paymentId", "payment-1"));

    assertStays("paid", "PAID");
    assertThat(scenario.database().column("paid", "payment_id")).isEqualTo("payment-1");
  }

  @Test
  void anOrderClosedByTheShopIsNotCancelled() {
    send(scenario.topics().created(), "closed", Map.of("timeout", "PT2S"));
    send(scenario.topics().closed(), "closed", Map.of("reason", "CUSTOMER"));

    assertStays("closed", "CLOSED");
    assertThat(scenario.database().column("closed", "close_reason")).isEqualTo("CUSTOMER");
  }

  /** Publishes without waiting for Kafka, so that the next event comes well within the deadline. */
  private void send(String topic, String orderId, Map<String, ?> fields) {
    sent = scenario.shop().send(topic, orderId, fields);
  }

  /** Compares the order with one of a later deadline, which is cancelled. */
  private void assertStays(String orderId, String state) {
    Instant settled = Instant.ofEpochMilli(Shop.await(sent).timestamp());
    String later = "later-than-" + orderId;
    scenario.shop().created(later, Map.of("timeout", "PT2.5S"));
    scenario.outcomes().awaitCancelled(later);
    scenario.awaitQuiet();
    Instant deadline = Objects.requireNonNull(scenario.database().deadline(orderId));
    assertThat(settled).as("the time of its payment or closure").isBefore(deadline);
    assertThat(scenario.database().now()).isAfter(deadline);
    assertThat(scenario.database().state(orderId)).isEqualTo(state);
    assertThat(scenario.outcomes().cancelled(orderId)).isEmpty();
    assertThat(scenario.outcomes().conflicts(orderId)).isEmpty();
  }

  private static Instant now() {
    return Instant.now().truncatedTo(ChronoUnit.MICROS);
  }
}
