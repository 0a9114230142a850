package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.SuspensionRows;
import io.ordertimeout.orders.platform.monitoring.ActivityCounters;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import tools.jackson.databind.JsonNode;

/** The circuit breaker pauses expiry before it cancels an abnormal number of orders. */
@Order(30)
class ExpiryCircuitBreakerIT {

  private static final int ORDERS = 200;
  private static final Instant LATER = Scenario.in(Duration.ofHours(1));

  @AutoClose private final Scenario scenario = Scenario.create();

  @Test
  void tooManyCancellationsPerRegistrationPauseExpiryUntilAnOperatorEndsThePause() {
    try (Service service =
        scenario.startService(
            "order-timeout.breaker.enabled", "true",
            "order-timeout.breaker.max-ratio", "0.5",
            "order-timeout.breaker.min-cancellations", "20",
            "order-timeout.breaker.move-deadlines", "false",
            "order-timeout.expiry.batch-size", "10")) {
      create(0, ORDERS, Scenario.in(Duration.ofSeconds(2)));
      awaitTripped(service);
      awaitRegistered(ORDERS);
      assertThat(service.counter("order.timeout.cancelled")).isLessThanOrEqualTo(ORDERS / 2.0);
      assertThat(scenario.database().pending()).isGreaterThanOrEqualTo(ORDERS / 2);

      JsonNode pause = service.http().viewer().get("/api/v1/overview").json().at("/pauses/0");
      assertThat(pause.path("reason").asString()).contains("would be cancelled, more than 0.5");
      assertThat(service.http().viewer().get("/api/v1/audit").json().at("/data/0/actor").asString())
          .isEqualTo("breaker");
      service.endPause(pause.path("id").asString());

      // The orders that it held back do not trip it again.
      await("all to be cancelled").until(() -> scenario.database().pending() == 0);
      assertThat(pauses()).isEqualTo(1);
    }
  }

  @Test
  void noPaymentsWhileOrdersComeInPauseExpiryBeforeTheFirstCancellation() {
    try (Service service =
        scenario.startService(
            "order-timeout.breaker.enabled", "true",
            "order-timeout.breaker.max-ratio", "10",
            "order-timeout.breaker.max-silence", "3s",
            "order-timeout.breaker.min-registrations", "100")) {
      create(0, ORDERS, LATER);
      awaitRegistered(ORDERS);
      scenario.awaitPast(Scenario.in(Duration.ofSeconds(4)));
      create(ORDERS, ORDERS + 1, Scenario.in(Duration.ZERO));
      awaitTripped(service);

      assertThat(scenario.database().pending()).isEqualTo(ORDERS + 1);
      assertThat(
              service.http().viewer().get("/api/v1/pauses").json().at("/data/0/reason").asString())
          .contains("no payment has been read for", "while 201 orders came in");
    }
  }

  @Test
  void ordersDueOnArrivalAreCountedAsRegisteredBeforeTheyAreDecided() {
    try (Service service =
        scenario.startService(
            List.of(slowCounting(Duration.ofSeconds(1))),
            "order-timeout.breaker.enabled",
            "true",
            "order-timeout.breaker.max-ratio",
            "1",
            "order-timeout.breaker.min-cancellations",
            "1")) {
      service.awaitReady(true);
      scenario.create("order", 0, Scenario.in(Duration.ZERO));
      await("the decision")
          .until(() -> "CANCELLED".equals(scenario.database().state("order")) || pauses() > 0);

      assertThat(pauses()).isZero();
    }
  }

  @Test
  void anOrdinaryShareOfUnpaidOrdersDoesNotPauseExpiry() {
    try (Service service =
        scenario.startService(
            "order-timeout.breaker.enabled", "true",
            "order-timeout.breaker.max-ratio", "0.5",
            "order-timeout.breaker.min-cancellations", "20")) {
      int paid = ORDERS * 3 / 4;
      create(0, paid, LATER);
      List<CompletableFuture<RecordMetadata>> payments = new ArrayList<>();
      for (int i = 0; i < paid; i++) {
        payments.add(
            scenario
                .shop()
                .send(scenario.topics().paid(), "order-" + i, Map.of("paymentId", "p" + i)));
      }
      payments.forEach(Shop::await);
      await("payments").until(() -> paidOrders() == paid);
      create(paid, ORDERS, Scenario.in(Duration.ofSeconds(1)));

      scenario.awaitAllDecided();
      assertThat(service.counter("order.timeout.cancelled")).isEqualTo(ORDERS / 4.0);
      assertThat(pauses()).isZero();
    }
  }

  @Test
  void ordersDueWhileNoInstanceRanDoNotPauseExpiry() {
    String[] settings = {
      "order-timeout.breaker.enabled", "true",
      "order-timeout.breaker.max-ratio", "0.5",
      "order-timeout.breaker.min-cancellations", "20"
    };
    try (Service before = scenario.startService(settings)) {
      before.awaitReady(true);
      create(0, ORDERS, LATER);
      awaitRegistered(ORDERS);
      assertThat(before.counter("order.timeout.cancelled")).isZero();
    }
    scenario.database().makePendingDue();

    try (Service after = scenario.startService(settings)) {
      await("all to be cancelled").until(() -> scenario.database().pending() == 0);
      for (int i = 0; i < 4; i++) {
        scenario.passDeadline("later-" + i, 0);
      }
      assertThat(pauses()).isZero();
      assertThat(after.counter("order.timeout.cancelled")).isEqualTo(ORDERS + 4.0);
    }
  }

  @Test
  void ordersThatAreBeingPaidDoNotCountAsCancellations() {
    try (Scenario withAttempts = Scenario.withAllTopics();
        Service service =
            withAttempts.startService(
                "order-timeout.breaker.enabled", "true",
                "order-timeout.breaker.max-ratio", "0.5",
                "order-timeout.breaker.min-cancellations", "20")) {
      service.awaitReady(true);
      Instant deadline = Scenario.in(Duration.ofSeconds(3));
      List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
      for (int i = 0; i < ORDERS; i++) {
        Shop shop = withAttempts.shop();
        String orderId = "order-" + i;
        sent.add(shop.send(withAttempts.topics().attempts(), orderId, Map.of("status", "STARTED")));
        sent.add(
            shop.send(
                withAttempts.topics().created(), orderId, Map.of("payBy", deadline.toString())));
      }
      sent.forEach(Shop::await);
      withAttempts.awaitPast(deadline);
      for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
        withAttempts.passDeadline("behind-" + shard, shard);
      }

      assertThat(withAttempts.database().pending()).isEqualTo(ORDERS);
      assertThat(withAttempts.database().count(SuspensionRows.PAUSES)).isZero();
    }
  }

  /** Gives expiry time to decide orders before their registration is counted, if it can. */
  private static BeanPostProcessor slowCounting(Duration delay) {
    CountDownLatch never = new CountDownLatch(1);
    ActivityCounters counters =
        new ActivityCounters() {
          @Override
          public void eventsStored(
              int registered, int paid, int closed, int conflicts, int payments) {
            try {
              assertThat(never.await(delay.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            super.eventsStored(registered, paid, closed, conflicts, payments);
          }
        };
    return new BeanPostProcessor() {
      @Override
      public Object postProcessAfterInitialization(Object bean, String beanName) {
        return bean instanceof ActivityCounters ? counters : bean;
      }
    };
  }

  private static void awaitTripped(Service service) {
    await("the circuit breaker")
        .until(() -> service.gauge("order.timeout.expiry.paused", "by", "breaker") == 1);
  }

  private void awaitRegistered(int orders) {
    await("registrations")
        .until(() -> scenario.database().count("select count(*) from order_deadline") >= orders);
  }

  private long pauses() {
    return scenario.database().count(SuspensionRows.PAUSES);
  }

  private long paidOrders() {
    return scenario.database().count("select count(*) from order_deadline where state = 'PAID'");
  }

  private void create(int from, int to, Instant deadline) {
    List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
    Map<String, ?> event = Map.of("payBy", deadline.toString());
    for (int i = from; i < to; i++) {
      sent.add(scenario.shop().send(scenario.topics().created(), "order-" + i, event));
    }
    sent.forEach(Shop::await);
  }
}
