package io.ordertimeout.it.instances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.rig.PublishedEvent;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.ServiceProcess;
import io.ordertimeout.it.rig.Stage;
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

  private final Stage stage = Stage.create();

  @AfterEach
  void close() {
    stage.close();
  }

  @Test
  void aShardThatMovesIsReloadedAndTheOthersStayWhereTheyAre() {
    try (Service one = stage.startService()) {
      awaitOwned(one, Stage.PARTITIONS);
      Instant deadline = Stage.in(Duration.ofSeconds(45));
      for (int i = 0; i < ORDERS_A_SHARD * Stage.PARTITIONS; i++) {
        stage.create("order-" + i, i % Stage.PARTITIONS, deadline);
      }
      stage.awaitQuiet();
      int moved;
      try (Service other = stage.startService()) {
        await("the other's share").atMost(PATIENCE).until(() -> other.gauge(OWNED) > 0);
        moved = (int) other.gauge(OWNED);
        awaitOwned(one, Stage.PARTITIONS - moved);
        other.awaitReady(true);
        // What had not moved was not read again.
        assertThat(one.counter(REBUILT)).isZero();
        assertThat(other.counter(REBUILT)).isEqualTo(moved * ORDERS_A_SHARD);
        assertThat(one.gauge("order.timeout.pending") + other.gauge("order.timeout.pending"))
            .isEqualTo(ORDERS_A_SHARD * Stage.PARTITIONS);
        stage.create("meanwhile", 0, Stage.in(Duration.ofSeconds(1)));
        stage.outcomes().awaitCancelled("meanwhile");
      }
      awaitOwned(one, Stage.PARTITIONS);
      one.awaitReady(true);
      assertThat(one.counter(REBUILT)).isEqualTo(moved * ORDERS_A_SHARD);
      stage.awaitAllDecided();
      assertThat(one.counter("order.timeout.repaired")).isZero();
    }
    assertThat(stage.outcomes().cancelled())
        .extracting(PublishedEvent::key)
        .doesNotHaveDuplicates()
        .hasSize(ORDERS_A_SHARD * Stage.PARTITIONS + 1);
  }

  @Test
  void aQuickRestartOfANamedInstanceMovesNothing() {
    try (Service staying = stage.startService("order-timeout.intake.instance-id", "staying")) {
      awaitOwned(staying, Stage.PARTITIONS);
      int share;
      try (Service restarting =
          stage.startService("order-timeout.intake.instance-id", "restarting")) {
        await("its share").atMost(PATIENCE).until(() -> restarting.gauge(OWNED) > 0);
        share = (int) restarting.gauge(OWNED);
        awaitOwned(staying, Stage.PARTITIONS - share);
        stage.create("order", 0, Stage.in(Duration.ofSeconds(20)));
        stage.create("another", 1, Stage.in(Duration.ofSeconds(20)));
        stage.create("third", 2, Stage.in(Duration.ofSeconds(20)));
        stage.awaitQuiet();
      }
      double loads = staying.counter(REBUILT);
      try (Service restarting =
          stage.startService("order-timeout.intake.instance-id", "restarting")) {
        awaitOwned(restarting, share);
        assertThat(staying.gauge(OWNED)).isEqualTo(Stage.PARTITIONS - share);
        assertThat(staying.counter(REBUILT)).isEqualTo(loads);
        stage.awaitAllDecided();
        assertThat(stage.outcomes().cancelled()).hasSize(3);
      }
    }
  }

  @Test
  void severalConsumerThreadsOfOneInstanceShareItsShards() {
    try (Service service =
        stage.startService("order-timeout.intake.threads", Integer.toString(Stage.PARTITIONS))) {
      awaitOwned(service, Stage.PARTITIONS);
      service.awaitReady(true);
      Instant deadline = Stage.in(Duration.ofSeconds(2));
      for (int partition = 0; partition < Stage.PARTITIONS; partition++) {
        stage.create("paid-" + partition, partition, deadline);
        stage.create("unpaid-" + partition, partition, deadline);
        stage.pay("paid-" + partition, partition);
      }
      stage.awaitAllDecided();
      assertThat(stage.outcomes().cancelled())
          .extracting(PublishedEvent::key)
          .containsExactlyInAnyOrder("unpaid-0", "unpaid-1", "unpaid-2");
    }
  }

  @Test
  void anInstanceThatWasFrozenDoesNoHarmWhenItWakes() throws IOException {
    try (ServiceProcess frozen = stage.startProcess(stage.name() + "-frozen", List.of("-Xmx256m"));
        Service other = startWhenReady(frozen)) {
      await("the share of each").atMost(PATIENCE).until(() -> other.gauge(OWNED) > 0);
      Instant deadline = Stage.in(Duration.ofSeconds(5));
      for (int partition = 0; partition < Stage.PARTITIONS; partition++) {
        stage.create("paid-" + partition, partition, deadline);
        stage.create("unpaid-" + partition, partition, deadline);
        stage.awaitState("unpaid-" + partition, "PENDING");
      }
      frozen.freeze();
      for (int partition = 0; partition < Stage.PARTITIONS; partition++) {
        stage.pay("paid-" + partition, partition);
      }
      // Longer than its session: its shards are the other's now.
      awaitOwned(other, Stage.PARTITIONS);
      stage.awaitAllDecided();
      assertThat(stage.outcomes().cancelled()).hasSize(Stage.PARTITIONS);

      frozen.thaw();

      await("its share again")
          .atMost(PATIENCE)
          .ignoreExceptionsInstanceOf(IOException.class)
          .until(() -> other.gauge(OWNED) < Stage.PARTITIONS && frozen.isReady());
      stage.create("after", 0, Stage.in(Duration.ofSeconds(1)));
      stage.create("after-too", 2, Stage.in(Duration.ofSeconds(1)));
      stage.outcomes().awaitCancelled("after");
      stage.outcomes().awaitCancelled("after-too");
      stage.awaitQuiet();
      assertThat(stage.outcomes().cancelled())
          .extracting(PublishedEvent::key)
          .doesNotHaveDuplicates()
          .hasSize(Stage.PARTITIONS + 2);
      assertThat(frozen.metric("order_timeout_repaired_total")).hasValue(0);
      assertThat(other.counter("order.timeout.repaired")).isZero();
    }
  }

  private Service startWhenReady(ServiceProcess first) {
    first.awaitReady();
    return stage.startService();
  }

  private static void awaitOwned(Service service, int shards) {
    await(shards + " shards").atMost(PATIENCE).until(() -> service.gauge(OWNED) == shards);
  }
}
