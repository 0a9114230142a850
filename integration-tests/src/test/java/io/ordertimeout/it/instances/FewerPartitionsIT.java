package io.ordertimeout.it.instances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Instance;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.SuspensionRows;
import io.ordertimeout.it.support.UnreadRecords;
import io.ordertimeout.it.traffic.Deadlines;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * Input topics that were deleted and created again with fewer partitions: no partition has the
 * number of the last shard any more.
 */
@Order(40)
class FewerPartitionsIT {

  private static final int FEWER = Scenario.PARTITIONS - 1;
  private static final int ORPHANED = Scenario.PARTITIONS - 1;

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @Test
  void ordersOfAShardWithoutAPartitionAreDecidedAndPaid() {
    createPendingAndStop();
    recreateTopics();
    Instant past = Scenario.in(Duration.ofMinutes(-1));
    database.decideWithoutPublishing("left-behind", ORPHANED, past, past);

    try (Service service = scenario.startService()) {
      awaitHolds();
      service.awaitHeldShards(Scenario.PARTITIONS);
      service.awaitReady(true);
      assertThat(service.ownedShards()).isEqualTo(Scenario.PARTITIONS);
      assertThat(service.gauge("order.timeout.shards")).isEqualTo(Scenario.PARTITIONS);
      assertThat(service.gauge("order.timeout.pending", "shard", "" + ORPHANED)).isEqualTo(2);
      scenario.outcomes().awaitCancelled("left-behind");
      awaitServed(service);
      scenario.pay("paid", FEWER - 1);
      scenario.awaitState("paid", "PAID");

      SuspensionRows.liftHolds(database);
      Deadlines.passNow(database, "order-0", "order-1", "order-2");

      assertCancelled("order-0", "order-1", "order-2");
      scenario.passDeadline("new", FEWER - 1);
      assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void noOrderOfAShardWithoutAPartitionIsDecidedBeforeAllPaymentsAreRead() {
    createPendingAndStop();
    recreateTopics();

    try (UnreadRecords unread =
            new UnreadRecords(new TopicPartition(scenario.topics().paid(), FEWER - 1));
        Service service = scenario.startService(List.of(unread.interceptor()))) {
      awaitHolds();
      service.awaitHeldShards(Scenario.PARTITIONS);
      SuspensionRows.liftHolds(database);
      service.awaitHeldShards(0);
      unread.block();
      scenario.pay("paid", FEWER - 1);
      Deadlines.passNow(database, "paid", "order-2");
      await("a decision, or that the orders wait")
          .until(
              () ->
                  service.gauge("order.timeout.watermark.lag", "shard", "" + ORPHANED) > 2
                      || !scenario.outcomes().cancelled().isEmpty());
      assertThat(database.pending()).isEqualTo(4);
      unread.unblock();

      assertCancelled("order-2");
      assertThat(database.state("paid")).isEqualTo("PAID");
      assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
    }
  }

  @Test
  @Tag("faults")
  void instancesShareAllShardsWhenTheTopicsAreRecreatedWhileTheyRun() {
    String[] threads = {"order-timeout.intake.threads", "2"};
    try (Service staying = scenario.startService(threads)) {
      try (Service leaving = scenario.startService(threads)) {
        Instance.awaitShared(staying, leaving);
        createPending();
        recreateTopics();

        awaitHolds();
        await("all shards")
            .until(() -> staying.ownedShards() + leaving.ownedShards() == Scenario.PARTITIONS);
        SuspensionRows.liftHolds(database);
        Deadlines.passNow(database, "order-0", "order-1");
        assertCancelled("order-0", "order-1");
      }
      staying.awaitOwnedShards(Scenario.PARTITIONS);
      scenario.pay("paid", 0);
      Deadlines.passNow(database, "order-2");
      assertCancelled("order-2");
      scenario.awaitState("paid", "PAID");
      assertThat(staying.counter("order.timeout.repaired")).isZero();
    }
  }

  private void createPendingAndStop() {
    try (Service service = scenario.startService()) {
      createPending();
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(4);
    }
  }

  private void createPending() {
    for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
      scenario.createPending("order-" + shard, shard);
    }
    scenario.createPending("paid", ORPHANED);
  }

  private void recreateTopics() {
    scenario.topics().inputs().forEach(scenario.kafka()::deleteTopic);
    scenario
        .kafka()
        .createTopics(
            scenario.topics().inputs().stream()
                .map(topic -> new NewTopic(topic, FEWER, (short) 1))
                .toList());
  }

  private void awaitServed(Service service) {
    await("all shards to be served")
        .untilAsserted(
            () -> {
              JsonNode overview =
                  service.http().operator().get("/api/v1/overview").assertOk().json();
              assertThat(overview.path("unservedShards")).as("%s", overview).isEmpty();
            });
  }

  /** Waits until each new partition of payments and of closures holds every shard. */
  private void awaitHolds() {
    await("holds")
        .until(
            () ->
                database.count(SuspensionRows.HOLDS_IN_FORCE) == 2L * FEWER * Scenario.PARTITIONS);
  }

  private void assertCancelled(String... orderIds) {
    for (String orderId : orderIds) {
      scenario.outcomes().awaitCancelled(orderId);
    }
  }
}
