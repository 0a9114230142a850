package io.ordertimeout.it.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a stopped service finds when it starts again. */
class RestartIT {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void deadlinesThatPassWhileItIsDownFireWhenItIsBack() {
    int orders = 60;
    Instant deadline;
    try (Service service = scenario.startService()) {
      deadline = Scenario.in(Duration.ofSeconds(15));
      List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
      for (int i = 0; i < orders; i++) {
        sent.add(
            send(scenario.topics().created(), "order-" + i, Map.of("payBy", deadline.toString())));
        sent.add(send(scenario.topics().created(), "long-" + i, Map.of("timeout", "PT1H")));
      }
      sent.forEach(Shop::await);
      scenario.awaitQuiet();
      assertThat(database.pending()).isEqualTo(2L * orders);
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(2.0 * orders);
    }
    assertThat(database.now()).isBefore(deadline);
    // Two thirds are paid in time, while nobody reads.
    List<CompletableFuture<RecordMetadata>> payments = new ArrayList<>();
    for (int i = 0; i < orders; i++) {
      if (i % 3 != 0) {
        payments.add(
            send(scenario.topics().paid(), "order-" + i, Map.of("paymentId", "payment-" + i)));
      }
    }
    for (CompletableFuture<RecordMetadata> payment : payments) {
      assertThat(Instant.ofEpochMilli(Shop.await(payment).timestamp())).isBefore(deadline);
    }
    scenario.awaitPast(deadline);
    assertThat(database.pending()).isEqualTo(2L * orders);

    try (Service service = scenario.startService()) {
      await("the overdue")
          .atMost(PATIENCE)
          .until(() -> scenario.outcomes().cancelled().size() >= orders / 3);
      scenario.awaitQuiet();

      Map<String, String> expected = new HashMap<>();
      for (int i = 0; i < orders; i++) {
        expected.put("order-" + i, i % 3 == 0 ? "CANCELLED" : "PAID");
        expected.put("long-" + i, "PENDING");
      }
      assertThat(database.states()).isEqualTo(expected);
      assertThat(scenario.outcomes().cancelled())
          .extracting(PublishedEvent::key)
          .doesNotHaveDuplicates()
          .allMatch(orderId -> "CANCELLED".equals(expected.get(orderId)));
      await("rebuild")
          .atMost(PATIENCE)
          .until(() -> service.counter("order.timeout.rebuilt.orders") >= orders);
      await("wheels")
          .atMost(PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(service.gauge("order.timeout.pending"))
                      .isEqualTo((double) database.pending()));
      assertThat(database.pending()).isEqualTo(orders);
    }
  }

  private CompletableFuture<RecordMetadata> send(
      String topic, String orderId, Map<String, ?> fields) {
    return scenario.shop().send(topic, orderId, fields);
  }

  @Test
  void theRebuildArmsEveryPendingOrderAndIsCounted() {
    int orders = 250;
    try (Service service = scenario.startService()) {
      for (int i = 0; i < orders; i++) {
        scenario.shop().created("order-" + i, Map.of("timeout", "PT1H"));
      }
      scenario.awaitQuiet();
      assertThat(service.counter("order.timeout.rebuilt.orders")).isZero();
    }
    // Pages smaller than a shard, so that it takes several.
    try (Service service = scenario.startService("order-timeout.wheel.load-page", "7")) {
      await("rebuild")
          .atMost(PATIENCE)
          .untilAsserted(
              () -> {
                assertThat(service.counter("order.timeout.rebuilt.orders"))
                    .isEqualTo((double) orders);
                assertThat(service.gauge("order.timeout.pending")).isEqualTo((double) orders);
              });
      assertThat(database.countByState()).isEqualTo(Map.of("PENDING", (long) orders));
      assertThat(scenario.outcomes().cancelled()).isEmpty();
    }
  }

  @Test
  void whatWasDecidedButNotPublishedIsPublishedAtTheNextStart() {
    Instant createdAt = Instant.now().truncatedTo(ChronoUnit.MICROS).minusSeconds(60);
    Instant deadline = createdAt.plusSeconds(30);
    try (Service first = scenario.startService()) {
      assertThat(first.gauge("order.timeout.outbox.unpublished")).isZero();
    }
    for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
      database.decideWithoutPublishing("left-" + shard, shard, createdAt, deadline);
    }
    assertThat(database.outboxRows()).isEqualTo(Scenario.PARTITIONS);

    // Found because the shards are taken over, not by the slow sweep.
    try (Service second = scenario.startService("order-timeout.outbox.sweep-interval", "1h")) {
      for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
        PublishedEvent event = scenario.outcomes().awaitCancelled("left-" + shard);
        assertThat(event.instant("createdAt")).isEqualTo(createdAt);
        assertThat(event.instant("deadline")).isEqualTo(deadline);
        assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(deadline);
      }
      scenario.awaitQuiet();
      assertThat(scenario.outcomes().cancelled()).hasSize(Scenario.PARTITIONS);
      await("gauge")
          .atMost(PATIENCE)
          .until(() -> second.gauge("order.timeout.outbox.unpublished") == 0);
    }
  }

  @Test
  void eventsThatCameWhileItWasDownAreRead() {
    try (Service first = scenario.startService()) {
      // Its group has committed where it starts, also where nothing has ever come.
      scenario.shop().created("known", Map.of("timeout", "PT1H"));
      scenario.awaitQuiet();
      assertThat(first.gauge("order.timeout.pending")).isEqualTo(1);
    }
    scenario.shop().created("unpaid", Map.of("timeout", "PT0.5S"));
    scenario.shop().created("paid", Map.of("timeout", "PT0.5S"));
    scenario.shop().paid("paid", "p1");
    scenario.shop().created("closed", Map.of("timeout", "PT0.5S"));
    scenario.shop().closed("closed");
    scenario.shop().closed("known");

    try (Service second = scenario.startService()) {
      scenario.outcomes().awaitCancelled("unpaid");
      scenario.awaitAllDecided();
      assertThat(database.states())
          .isEqualTo(
              Map.of("known", "CLOSED", "unpaid", "CANCELLED", "paid", "PAID", "closed", "CLOSED"));
      assertThat(scenario.outcomes().cancelled()).hasSize(1);
      await("wheels").atMost(PATIENCE).until(() -> second.gauge("order.timeout.pending") == 0);
    }
  }
}
