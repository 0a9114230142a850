package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The breaker pauses expiry before an abnormal number of orders is cancelled. */
class BreakerIT {

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int ORDERS = 200;

  private final Scenario scenario = Scenario.create();

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void tooManyCancellationsForTheOrdersThatComeInPauseExpiryUntilAnOperatorEndsIt() {
    try (Service service =
        scenario.startService(
            "order-timeout.breaker.enabled", "true",
            "order-timeout.breaker.max-ratio", "0.5",
            "order-timeout.breaker.min-cancellations", "20",
            "order-timeout.breaker.move-deadlines", "false",
            "order-timeout.expiry.batch-size", "10")) {
      create(Scenario.in(Duration.ofSeconds(5)));
      await("the breaker")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.expiry.paused", "by", "breaker") == 1);
      assertThat(service.counter("order.timeout.cancelled")).isLessThanOrEqualTo(ORDERS / 2.0);
      assertThat(scenario.database().pending()).isGreaterThanOrEqualTo(ORDERS / 2);

      JsonNode pause = service.http().viewer().get("/api/overview").json().at("/pauses/0");
      assertThat(pause.path("reason").asString()).contains("would be cancelled, more than 0.5");
      assertThat(service.http().viewer().get("/api/audit").json().at("/0/actor").asString())
          .isEqualTo("breaker");
      Answer ended =
          service
              .http()
              .operator()
              .post(
                  "/api/pauses/" + pause.path("id").asString() + "/end",
                  Map.of("reason", "a sale"));
      assertThat(ended.status()).isEqualTo(200);

      // What it held back does not trip it again.
      await("all to be cancelled").atMost(PATIENCE).until(() -> scenario.database().pending() == 0);
      assertThat(scenario.database().count("select count(*) from expiry_pause")).isEqualTo(1);
    }
  }

  @Test
  void noPaymentWhileOrdersComeInPausesExpiryBeforeTheFirstCancellation() {
    try (Service service =
        scenario.startService(
            "order-timeout.breaker.enabled", "true",
            "order-timeout.breaker.max-ratio", "10",
            "order-timeout.breaker.max-silence", "3s",
            "order-timeout.breaker.min-registrations", "100")) {
      create(Scenario.in(Duration.ofSeconds(6)));
      await("the breaker")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.expiry.paused", "by", "breaker") == 1);

      assertThat(scenario.database().pending()).isEqualTo(ORDERS);
      assertThat(service.http().viewer().get("/api/pauses").json().at("/0/reason").asString())
          .contains("no payment has been read for", "while 200 orders came in");
    }
  }

  @Test
  void aNormalShopIsNotHeldUp() {
    try (Service service =
        scenario.startService(
            "order-timeout.breaker.enabled", "true",
            "order-timeout.breaker.max-ratio", "0.5",
            "order-timeout.breaker.min-cancellations", "20")) {
      Instant deadline = Scenario.in(Duration.ofSeconds(6));
      create(deadline);
      List<CompletableFuture<RecordMetadata>> payments = new ArrayList<>();
      for (int i = 0; i < ORDERS; i++) {
        if (i % 4 != 0) {
          payments.add(
              scenario
                  .shop()
                  .send(scenario.topics().paid(), "order-" + i, Map.of("paymentId", "p" + i)));
        }
      }
      payments.forEach(Shop::await);

      scenario.awaitAllDecided();
      assertThat(service.counter("order.timeout.cancelled")).isEqualTo(ORDERS / 4.0);
      assertThat(scenario.database().count("select count(*) from expiry_pause")).isZero();
    }
  }

  @Test
  void whatCameDueWhileNobodyWasThereDoesNotPauseWhatComesInNow() {
    String[] settings = {
      "order-timeout.breaker.enabled", "true",
      "order-timeout.breaker.max-ratio", "0.5",
      "order-timeout.breaker.min-cancellations", "20"
    };
    Instant deadline = Scenario.in(Duration.ofSeconds(10));
    try (Service before = scenario.startService(settings)) {
      before.awaitReady(true);
      create(deadline);
      await("orders").atMost(PATIENCE).until(() -> scenario.database().pending() == ORDERS);
    }
    await("their deadline").atMost(PATIENCE).until(() -> Instant.now().isAfter(deadline));

    try (Service after = scenario.startService(settings)) {
      await("all to be cancelled").atMost(PATIENCE).until(() -> scenario.database().pending() == 0);
      for (int i = 0; i < 4; i++) {
        scenario.create("later-" + i, 0, Scenario.in(Duration.ofMillis(500)));
        scenario.outcomes().awaitCancelled("later-" + i);
      }
      assertThat(scenario.database().count("select count(*) from expiry_pause")).isZero();
      assertThat(after.counter("order.timeout.cancelled")).isEqualTo(ORDERS + 4.0);
    }
  }

  private void create(Instant deadline) {
    List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
    for (int i = 0; i < ORDERS; i++) {
      sent.add(
          scenario
              .shop()
              .send(
                  scenario.topics().created(), "order-" + i, Map.of("payBy", deadline.toString())));
    }
    sent.forEach(Shop::await);
  }
}
