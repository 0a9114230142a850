package io.ordertimeout.it.instances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.ServiceProcess;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InstancesIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String OWNED = "order.timeout.owned.shards";
  private static final String REBUILT = "order.timeout.rebuilt.orders";
  private static final int ORDERS_A_SHARD = 20;

  private final Scenario scenario = Scenario.create();

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void aShardThatMovesIsReloadedAndTheOthersStayWhereTheyAre() {
    try (Service one = scenario.startService()) {
      awaitOwned(one, Scenario.PARTITIONS);
      Instant deadline = Scenario.in(Duration.ofSeconds(45));
      for (int i = 0; i < ORDERS_A_SHARD * Scenario.PARTITIONS; i++) {
        scenario.create("order-" + i, i % Scenario.PARTITIONS, deadline);
      }
      scenario.awaitQuiet();
      int moved;
      try (Service other = scenario.startService()) {
        await("the other's share").atMost(PATIENCE).until(() -> other.gauge(OWNED) > 0);
        moved = (int) other.gauge(OWNED);
        awaitOwned(one, Scenario.PARTITIONS - moved);
        other.awaitReady(true);
        // What had not moved was not read again.
        assertThat(one.counter(REBUILT)).isZero();
        assertThat(other.counter(REBUILT)).isEqualTo(moved * ORDERS_A_SHARD);
        assertThat(one.gauge("order.timeout.pending") + other.gauge("order.timeout.pending"))
            .isEqualTo(ORDERS_A_SHARD * Scenario.PARTITIONS);
        scenario.create("meanwhile", 0, Scenario.in(Duration.ofSeconds(1)));
        scenario.outcomes().awaitCancelled("meanwhile");
      }
      awaitOwned(one, Scenario.PARTITIONS);
      one.awaitReady(true);
      assertThat(one.counter(REBUILT)).isEqualTo(moved * ORDERS_A_SHARD);
      scenario.awaitAllDecided();
      assertThat(one.counter("order.timeout.repaired")).isZero();
    }
    assertThat(scenario.outcomes().cancelled())
        .extracting(PublishedEvent::key)
        .doesNotHaveDuplicates()
        .hasSize(ORDERS_A_SHARD * Scenario.PARTITIONS + 1);
  }

  @Test
  void aQuickRestartOfANamedInstanceMovesNothing() {
    try (Service staying = scenario.startService("order-timeout.intake.instance-id", "staying")) {
      awaitOwned(staying, Scenario.PARTITIONS);
      int share;
      try (Service restarting =
          scenario.startService("order-timeout.intake.instance-id", "restarting")) {
        await("its share").atMost(PATIENCE).until(() -> restarting.gauge(OWNED) > 0);
        share = (int) restarting.gauge(OWNED);
        awaitOwned(staying, Scenario.PARTITIONS - share);
        scenario.create("order", 0, Scenario.in(Duration.ofSeconds(20)));
        scenario.create("another", 1, Scenario.in(Duration.ofSeconds(20)));
        scenario.create("third", 2, Scenario.in(Duration.ofSeconds(20)));
        scenario.awaitQuiet();
      }
      double loads = staying.counter(REBUILT);
      try (Service restarting =
          scenario.startService("order-timeout.intake.instance-id", "restarting")) {
        awaitOwned(restarting, share);
        assertThat(staying.gauge(OWNED)).isEqualTo(Scenario.PARTITIONS - share);
        assertThat(staying.counter(REBUILT)).isEqualTo(loads);
        scenario.awaitAllDecided();
        assertThat(scenario.outcomes().cancelled()).hasSize(3);
      }
    }
  }

  @Test
  void severalConsumerThreadsOfOneInstanceShareItsShards() {
    try (Service service =
        scenario.startService(
            "order-timeout.intake.threads", Integer.toString(Scenario.PARTITIONS))) {
      awaitOwned(service, Scenario.PARTITIONS);
      service.awaitReady(true);
      Instant deadline = Scenario.in(Duration.ofSeconds(2));
      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        scenario.create("paid-" + partition, partition, deadline);
        scenario.create("unpaid-" + partition, partition, deadline);
        scenario.pay("paid-" + partition, partition);
      }
      scenario.awaitAllDecided();
      assertThat(scenario.outcomes().cancelled())
          .extracting(PublishedEvent::key)
          .containsExactlyInAnyOrder("unpaid-0", "unpaid-1", "unpaid-2");
    }
  }

  @Test
  void anInstanceThatWasFrozenDoesNoHarmWhenItWakes() throws IOException {
    try (ServiceProcess frozen =
            scenario.startProcess(scenario.name() + "-frozen", List.of("-Xmx256m"));
        Service other = startWhenReady(frozen)) {
      await("the share of each").atMost(PATIENCE).until(() -> other.gauge(OWNED) > 0);
      Instant deadline = Scenario.in(Duration.ofSeconds(5));
      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        scenario.create("paid-" + partition, partition, deadline);
        scenario.create("unpaid-" + partition, partition, deadline);
        scenario.awaitState("unpaid-" + partition, "PENDING");
      }
      frozen.freeze();
      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        scenario.pay("paid-" + partition, partition);
      }
      // Longer than its session: its shards are the other's now.
      awaitOwned(other, Scenario.PARTITIONS);
      scenario.awaitAllDecided();
      assertThat(scenario.outcomes().cancelled()).hasSize(Scenario.PARTITIONS);

      frozen.thaw();

      await("its share again")
          .atMost(PATIENCE)
          .ignoreExceptionsInstanceOf(IOException.class)
          .until(() -> other.gauge(OWNED) < Scenario.PARTITIONS && frozen.isReady());
      scenario.create("after", 0, Scenario.in(Duration.ofSeconds(1)));
      scenario.create("after-too", 2, Scenario.in(Duration.ofSeconds(1)));
      scenario.outcomes().awaitCancelled("after");
      scenario.outcomes().awaitCancelled("after-too");
      scenario.awaitQuiet();
      assertThat(scenario.outcomes().cancelled())
          .extracting(PublishedEvent::key)
          .doesNotHaveDuplicates()
          .hasSize(Scenario.PARTITIONS + 2);
      assertThat(frozen.metric("order_timeout_repaired_total")).hasValue(0);
      assertThat(other.counter("order.timeout.repaired")).isZero();
    }
  }

  private Service startWhenReady(ServiceProcess first) {
    first.awaitReady();
    return scenario.startService();
  }

  private static void awaitOwned(Service service, int shards) {
    await(shards + " shards").atMost(PATIENCE).until(() -> service.gauge(OWNED) == shards);
  }
}
