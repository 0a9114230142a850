package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.rig.PublishedEvent;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;
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

  private final Stage stage = Stage.create();
  private final Service service =
      stage.startService(
          "order-timeout.deadline.default-timeout", "3s",
          "order-timeout.deadline.policies[0].name", "counter",
          "order-timeout.deadline.policies[0].channel", "POS",
          "order-timeout.deadline.policies[0].timeout", "1s",
          "order-timeout.outbox.source", "/shops/north");

  @AfterAll
  void close() {
    service.close();
    stage.close();
  }

  @Test
  void anUnpaidOrderIsCancelledOnceAndNotBeforeItsDeadline() {
    Instant createdAt = now();
    stage.shop().created("unpaid", Map.of("createdAt", createdAt.toString(), "timeout", "PT1.5S"));

    PublishedEvent event = stage.outcomes().awaitCancelled("unpaid");
    stage.awaitQuiet();

    Instant deadline = createdAt.plusMillis(1_500);
    assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(deadline);
    assertThat(event.appendedAt()).isAfterOrEqualTo(deadline);
    assertThat(stage.outcomes().cancelled("unpaid")).hasSize(1);
    assertThat(stage.database().state("unpaid")).isEqualTo("CANCELLED");
  }

  @Test
  void aCancellationSaysWhatItIsAbout() {
    Instant createdAt = now();
    stage.shop().created("told", Map.of("createdAt", createdAt.toString(), "timeout", "PT1S"));

    PublishedEvent event = stage.outcomes().awaitCancelled("told");

    assertThat(event.body().propertyNames())
        .containsExactlyInAnyOrder(
            "eventId", "orderId", "reason", "createdAt", "deadline", "cancelledAt");
    assertThat(event.text("orderId")).isEqualTo("told").isEqualTo(event.key());
    assertThat(event.text("reason")).isEqualTo("PAYMENT_TIMEOUT");
    assertThat(event.instant("createdAt")).isEqualTo(createdAt);
    assertThat(event.instant("deadline")).isEqualTo(createdAt.plusSeconds(1));
    assertThat(event.instant("cancelledAt"))
        .isBetween(createdAt.plusSeconds(1), stage.database().now());
    String eventId = event.text("eventId");
    assertThat(UUID.fromString(eventId)).hasToString(eventId);
    assertThat(event.header("ce_id")).isEqualTo(eventId);
    assertThat(event.header("ce_type")).isEqualTo("io.ordertimeout.order-cancelled");
    assertThat(event.header("ce_source")).isEqualTo("/shops/north");
    assertThat(event.header("ce_specversion")).isEqualTo("1.0");
    assertThat(Instant.parse(event.header("ce_time")))
        .isBetween(event.instant("cancelledAt"), stage.database().now());
    assertThat(event.header("content-type")).isEqualTo("application/json");
  }

  @Test
  void theOrderItselfCanSayUntilWhenItIsToBePaid() {
    Instant payBy = now().plusMillis(1_200);
    stage.shop().created("pay-by", Map.of("payBy", payBy.toString(), "timeout", "PT1H"));

    assertThat(stage.outcomes().awaitCancelled("pay-by").instant("deadline")).isEqualTo(payBy);
    assertThat(stage.database().column("pay-by", "policy")).isEqualTo("PAY_BY");
  }

  @Test
  void theOrderItselfCanSayHowLongItMayStayUnpaid() {
    Instant createdAt = now();
    stage
        .shop()
        .created(
            "timeout",
            Map.of("createdAt", createdAt.toString(), "timeout", "PT0.5S", "channel", "POS"));

    assertThat(stage.outcomes().awaitCancelled("timeout").instant("deadline"))
        .isEqualTo(createdAt.plusMillis(500));
    assertThat(stage.database().column("timeout", "policy")).isEqualTo("TIMEOUT");
  }

  @Test
  void aPolicyDecidesForItsChannel() {
    Instant createdAt = now();
    stage.shop().created("policy", Map.of("createdAt", createdAt.toString(), "channel", "POS"));

    assertThat(stage.outcomes().awaitCancelled("policy").instant("deadline"))
        .isEqualTo(createdAt.plusSeconds(1));
    assertThat(stage.database().column("policy", "policy")).isEqualTo("counter");
  }

  @Test
  void theDefaultTimeoutCountsFromTheRecordWhereTheOrderSaysNothing() {
    Instant appended =
        Instant.ofEpochMilli(stage.shop().created("default", Map.of("channel", "WEB")).timestamp());

    PublishedEvent event = stage.outcomes().awaitCancelled("default");
    assertThat(event.instant("createdAt")).isEqualTo(appended);
    assertThat(event.instant("deadline")).isEqualTo(appended.plus(Duration.ofSeconds(3)));
    assertThat(stage.database().column("default", "policy")).isEqualTo("DEFAULT");
  }

  @Test
  void anOrderPaidInTimeIsNotCancelled() {
    stage.shop().created("paid", Map.of("timeout", "PT2S"));
    stage.shop().paid("paid", "payment-1");

    assertStays("paid", "PAID");
    assertThat(stage.database().column("paid", "payment_id")).isEqualTo("payment-1");
  }

  @Test
  void anOrderClosedByTheShopIsNotCancelled() {
    stage.shop().created("closed", Map.of("timeout", "PT2S"));
    stage.shop().closed("closed");

    assertStays("closed", "CLOSED");
    assertThat(stage.database().column("closed", "close_reason")).isEqualTo("CUSTOMER");
  }

  /** Holds the order against one of a later deadline, which is cancelled. */
  private void assertStays(String orderId, String state) {
    String later = "later-than-" + orderId;
    stage.shop().created(later, Map.of("timeout", "PT2.5S"));
    stage.outcomes().awaitCancelled(later);
    stage.awaitQuiet();
    assertThat(stage.database().now()).isAfter(stage.database().deadline(orderId));
    assertThat(stage.database().state(orderId)).isEqualTo(state);
    assertThat(stage.outcomes().cancelled(orderId)).isEmpty();
    assertThat(stage.outcomes().conflicts(orderId)).isEmpty();
  }

  private static Instant now() {
    return Instant.now().truncatedTo(ChronoUnit.MICROS);
  }
}
