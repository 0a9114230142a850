package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What becomes of an order that is not paid, and of one that is. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CancellationIT {

  private final Scenario scenario = Scenario.create();
  private final Service service =
      scenario.startService(
          "order-timeout.deadline.default-timeout", "3s",
          "order-timeout.deadline.policies[0].name", "counter",
          "order-timeout.deadline.policies[0].channel", "POS",
          "order-timeout.deadline.policies[0].timeout", "1s",
          "order-timeout.outbox.source", "/shops/north");

  @AfterAll
  void close() {
    service.close();
    scenario.close();
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
  void aCancellationSaysWhatItIsAbout() {
    Instant createdAt = now();
    scenario.shop().created("told", Map.of("createdAt", createdAt.toString(), "timeout", "PT1S"));

    PublishedEvent event = scenario.outcomes().awaitCancelled("told");

    assertThat(event.body().propertyNames())
        .containsExactlyInAnyOrder(
            "eventId", "orderId", "reason", "createdAt", "deadline", "cancelledAt");
    assertThat(event.text("orderId")).isEqualTo("told").isEqualTo(event.key());
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
  void theOrderItselfCanSayUntilWhenItIsToBePaid() {
    Instant payBy = now().plusMillis(1_200);
    scenario.shop().created("pay-by", Map.of("payBy", payBy.toString(), "timeout", "PT1H"));

    assertThat(scenario.outcomes().awaitCancelled("pay-by").instant("deadline")).isEqualTo(payBy);
    assertThat(scenario.database().column("pay-by", "policy")).isEqualTo("PAY_BY");
  }

  @Test
  void theOrderItselfCanSayHowLongItMayStayUnpaid() {
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
  void aPolicyDecidesForItsChannel() {
    Instant createdAt = now();
    scenario.shop().created("policy", Map.of("createdAt", createdAt.toString(), "channel", "POS"));

    assertThat(scenario.outcomes().awaitCancelled("policy").instant("deadline"))
        .isEqualTo(createdAt.plusSeconds(1));
    assertThat(scenario.database().column("policy", "policy")).isEqualTo("counter");
  }

  @Test
  void theDefaultTimeoutCountsFromTheRecordWhereTheOrderSaysNothing() {
    Instant appended =
        Instant.ofEpochMilli(
            scenario.shop().created("default", Map.of("channel", "WEB")).timestamp());

    PublishedEvent event = scenario.outcomes().awaitCancelled("default");
    assertThat(event.instant("createdAt")).isEqualTo(appended);
    assertThat(event.instant("deadline")).isEqualTo(appended.plus(Duration.ofSeconds(3)));
    assertThat(scenario.database().column("default", "policy")).isEqualTo("DEFAULT");
  }

  @Test
  void anOrderPaidInTimeIsNotCancelled() {
    scenario.shop().created("paid", Map.of("timeout", "PT2S"));
    scenario.shop().paid("paid", "payment-1");

    assertStays("paid", "PAID");
    assertThat(scenario.database().column("paid", "payment_id")).isEqualTo("payment-1");
  }

  @Test
  void anOrderClosedByTheShopIsNotCancelled() {
    scenario.shop().created("closed", Map.of("timeout", "PT2S"));
    scenario.shop().closed("closed");

    assertStays("closed", "CLOSED");
    assertThat(scenario.database().column("closed", "close_reason")).isEqualTo("CUSTOMER");
  }

  /** Holds the order against one of a later deadline, which is cancelled. */
  private void assertStays(String orderId, String state) {
    String later = "later-than-" + orderId;
    scenario.shop().created(later, Map.of("timeout", "PT2.5S"));
    scenario.outcomes().awaitCancelled(later);
    scenario.awaitQuiet();
    assertThat(scenario.database().now()).isAfter(scenario.database().deadline(orderId));
    assertThat(scenario.database().state(orderId)).isEqualTo(state);
    assertThat(scenario.outcomes().cancelled(orderId)).isEmpty();
    assertThat(scenario.outcomes().conflicts(orderId)).isEmpty();
  }

  private static Instant now() {
    return Instant.now().truncatedTo(ChronoUnit.MICROS);
  }
}
