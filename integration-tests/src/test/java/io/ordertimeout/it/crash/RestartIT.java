package io.ordertimeout.it.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * One restart of the service. Each test checks the result for one group of orders: those whose
 * deadline passed while the service was down, those that stay pending, those that were decided but
 * not published, and those whose events arrived while it was down.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RestartIT {

  private static final int OVERDUE = 60;
  private static final int FAR = 190;
  private static final int NEW = 3;

  /** The overdue orders that are paid, and the one that is closed. */
  private static final int SETTLED_WHILE_DOWN = OVERDUE * 2 / 3 + 1;

  private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();
  private final Instant unpublishedCreatedAt =
      Instant.now().truncatedTo(ChronoUnit.MICROS).minusSeconds(60);
  private final Instant unpublishedDeadline = unpublishedCreatedAt.plusSeconds(30);
  private int rebuilt;
  private Service restarted;

  @BeforeAll
  void restart() {
    try (Service first = scenario.startService()) {
      List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
      for (int i = 0; i < OVERDUE; i++) {
        sent.add(create("overdue-" + i, "PT1H"));
      }
      for (int i = 0; i < FAR; i++) {
        sent.add(create("far-" + i, "PT1H"));
      }
      sent.add(create("closed-meanwhile", "PT1H"));
      sent.forEach(Shop::await);
      scenario.awaitQuiet();
      rebuilt = sent.size();
      assertThat(database.pending()).isEqualTo(rebuilt);
      assertThat(first.gauge("order.timeout.pending")).isEqualTo((double) rebuilt);
      assertThat(first.gauge("order.timeout.outbox.unpublished")).isZero();
      assertThat(first.counter("order.timeout.rebuilt.orders")).isZero();
    }
    publishWhileDown();
    // All payments are appended, so they are in time for a deadline of now.
    database.execute(
        "update order_deadline set deadline = clock_timestamp() where order_id like 'overdue-%'");
    for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
      database.decideWithoutPublishing(
          "unpublished-" + shard, shard, unpublishedCreatedAt, unpublishedDeadline);
    }
    assertThat(database.pending()).isEqualTo(rebuilt);
    assertThat(database.unpublished()).isEqualTo(Scenario.PARTITIONS);
    restarted =
        scenario.startService(
            // Pages smaller than a shard, so that each shard needs several.
            "order-timeout.wheel.load-page", "7",
            // The takeover has to find the outbox rows, not the slow sweep.
            "order-timeout.outbox.sweep-interval", "1h");
  }

  private void publishWhileDown() {
    List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
    for (int i = 0; i < OVERDUE; i++) {
      if (isPaid(i)) {
        sent.add(pay("overdue-" + i));
      }
    }
    sent.add(create("new-unpaid", "PT0.5S"));
    sent.add(create("new-paid", "PT0.5S"));
    sent.add(pay("new-paid"));
    sent.add(create("new-closed", "PT0.5S"));
    sent.forEach(Shop::await);
    scenario.shop().closed("new-closed");
    scenario.shop().closed("closed-meanwhile");
  }

  /** Two thirds are paid while the service is down. */
  private static boolean isPaid(int order) {
    return order % 3 != 0;
  }

  private CompletableFuture<RecordMetadata> create(String orderId, String timeout) {
    return scenario.shop().send(scenario.topics().created(), orderId, Map.of("timeout", timeout));
  }

  private CompletableFuture<RecordMetadata> pay(String orderId) {
    return scenario
        .shop()
        .send(scenario.topics().paid(), orderId, Map.of("paymentId", "payment-of-" + orderId));
  }

  @AfterAll
  void close() {
    restarted.close();
    scenario.close();
  }

  @Test
  void unpaidOrdersWhoseDeadlinePassedWhileDownAreCancelledAndPaidOnesAreNot() {
    Map<String, String> expected = new HashMap<>();
    for (int i = 0; i < OVERDUE; i++) {
      expected.put("overdue-" + i, isPaid(i) ? "PAID" : "CANCELLED");
    }
    assertStates("overdue-", expected);
  }

  @Test
  void theRebuildArmsEveryPendingOrderAndCountsIt() {
    Map<String, String> expected = new HashMap<>();
    for (int i = 0; i < FAR; i++) {
      expected.put("far-" + i, "PENDING");
    }
    // What arrived while the service was down may be stored before the end of a rebuild: it finds
    // orders that are new, and no longer those that are paid or closed.
    await("the rebuild")
        .untilAsserted(
            () ->
                assertThat(restarted.counter("order.timeout.rebuilt.orders"))
                    .isBetween((double) rebuilt - SETTLED_WHILE_DOWN, (double) rebuilt + NEW));
    await("the wheels")
        .until(() -> restarted.gauge("order.timeout.pending") == FAR && database.pending() == FAR);
    assertStates("far-", expected);
  }

  @Test
  void decisionsThatWereNotPublishedArePublishedAfterTheTakeover() {
    for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
      PublishedEvent event = scenario.outcomes().awaitCancelled("unpublished-" + shard);
      assertThat(event.instant("createdAt")).isEqualTo(unpublishedCreatedAt);
      assertThat(event.instant("deadline")).isEqualTo(unpublishedDeadline);
      assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(unpublishedDeadline);
    }
    scenario.awaitQuiet();
    assertThat(cancelled("unpublished-")).hasSize(Scenario.PARTITIONS);
    await("the gauge").until(() -> restarted.gauge("order.timeout.outbox.unpublished") == 0);
  }

  @Test
  void eventsThatArrivedWhileDownAreRead() {
    assertStates(
        "new-", Map.of("new-unpaid", "CANCELLED", "new-paid", "PAID", "new-closed", "CLOSED"));
    assertStates("closed-meanwhile", Map.of("closed-meanwhile", "CLOSED"));
  }

  /** Waits for the states and checks that exactly the cancelled orders were published, once. */
  private void assertStates(String prefix, Map<String, String> expected) {
    await("states of " + prefix)
        .untilAsserted(
            () -> {
              Map<String, String> states = new HashMap<>(database.states());
              states.keySet().removeIf(orderId -> !orderId.startsWith(prefix));
              assertThat(states).isEqualTo(expected);
            });
    scenario.awaitQuiet();
    assertThat(cancelled(prefix))
        .containsExactlyInAnyOrderElementsOf(
            expected.keySet().stream()
                .filter(orderId -> "CANCELLED".equals(expected.get(orderId)))
                .toList());
  }

  private List<String> cancelled(String prefix) {
    return scenario.outcomes().cancelled().stream()
        .map(PublishedEvent::key)
        .filter(orderId -> orderId.startsWith(prefix))
        .toList();
  }
}
