package io.ordertimeout.it.instances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.Ports;
import io.ordertimeout.it.support.Guests;
import io.ordertimeout.it.support.Instance;
import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.KafkaAdmin;
import io.ordertimeout.it.support.LogCapture;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.ServiceProcess;
import io.ordertimeout.it.traffic.Deadlines;
import io.ordertimeout.orders.shard.Shards;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;

/** Several instances of the service that share the shards. */
@Order(20)
class InstancesIT {

  private static final String REBUILT = "order.timeout.rebuilt.orders";
  private static final int ORDERS_PER_SHARD = 20;
  private static final int VISITS = 2;

  @AutoClose private final Scenario scenario = Scenario.create();

  @Test
  void onlyShardsThatMoveAreReloaded() {
    try (Service one = scenario.startService()) {
      one.awaitOwnedShards(Scenario.PARTITIONS);
      Instant deadline = Scenario.in(Duration.ofHours(1));
      String[] orderIds =
          IntStream.range(0, ORDERS_PER_SHARD * Scenario.PARTITIONS)
              .mapToObj(i -> "order-" + i)
              .toArray(String[]::new);
      for (int i = 0; i < orderIds.length; i++) {
        scenario.create(orderIds[i], i % Scenario.PARTITIONS, deadline);
      }
      scenario.awaitQuiet();
      int moved;
      try (Service other = scenario.startService()) {
        Instance.awaitShared(one, other);
        moved = other.ownedShards();
        other.awaitReady(true);
        // The shards that did not move were not reloaded.
        assertThat(one.counter(REBUILT)).isZero();
        assertThat(other.counter(REBUILT)).isEqualTo(moved * ORDERS_PER_SHARD);
        assertThat(one.gauge("order.timeout.pending") + other.gauge("order.timeout.pending"))
            .isEqualTo(ORDERS_PER_SHARD * Scenario.PARTITIONS);
        scenario.create("meanwhile", 0, Scenario.in(Duration.ofSeconds(1)));
        scenario.outcomes().awaitCancelled("meanwhile");
      }
      one.awaitOwnedShards(Scenario.PARTITIONS);
      one.awaitReady(true);
      assertThat(one.counter(REBUILT)).isEqualTo(moved * ORDERS_PER_SHARD);
      Deadlines.passNow(scenario.database(), orderIds);
      scenario.awaitAllDecided();
      assertThat(one.counter("order.timeout.repaired")).isZero();
    }
    assertThat(scenario.outcomes().cancelled())
        .extracting(PublishedEvent::key)
        .doesNotHaveDuplicates()
        .hasSize(ORDERS_PER_SHARD * Scenario.PARTITIONS + 1);
  }

  @Test
  @Timeout(180)
  @ExtendWith(LogCapture.class)
  void shardsThatComeBackUnderLoadAreReadWithoutAFailure(CapturedOutput output) {
    try (Service service = scenario.startService()) {
      service.awaitOwnedShards(Scenario.PARTITIONS);
      int order = 0;
      for (int visit = 0; visit < VISITS; visit++) {
        try (Guests guest = Guests.one(scenario)) {
          while (!guest.isServed()) {
            guest.poll();
            order = createNext(order);
          }
          while (service.ownedShards() == Scenario.PARTITIONS) {
            guest.poll();
            order = createNext(order);
          }
        }
        while (service.ownedShards() < Scenario.PARTITIONS) {
          order = createNext(order);
        }
      }
      scenario.awaitQuiet();
    }
    assertThat(output).doesNotContain("records could not be stored");
  }

  private int createNext(int order) {
    scenario.create(
        "order-" + order, order % Scenario.PARTITIONS, Scenario.in(Duration.ofHours(1)));
    return order + 1;
  }

  @Test
  @Tag("faults")
  void aQuickRestartOfANamedInstanceMovesNoShards() {
    // The longest session that the broker allows: even on a busy machine, a restart is quicker.
    setSessionTimeout(Duration.ofSeconds(60));
    try (Service staying = scenario.startService("order-timeout.intake.instance-id", "staying")) {
      staying.awaitOwnedShards(Scenario.PARTITIONS);
      int share;
      try (Service restarting =
          scenario.startService("order-timeout.intake.instance-id", "restarting")) {
        Instance.awaitShared(staying, restarting);
        share = restarting.ownedShards();
        for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
          scenario.create("order-" + partition, partition, Scenario.in(Duration.ofHours(1)));
        }
        scenario.awaitQuiet();
      }
      double loads = staying.counter(REBUILT);
      try (Service restarting =
          scenario.startService("order-timeout.intake.instance-id", "restarting")) {
        restarting.awaitOwnedShards(share);
        assertThat(staying.ownedShards()).isEqualTo(Scenario.PARTITIONS - share);
        assertThat(staying.counter(REBUILT)).isEqualTo(loads);
        Deadlines.passNow(scenario.database(), "order-0", "order-1", "order-2");
        scenario.awaitAllDecided();
        assertThat(scenario.outcomes().cancelled()).hasSize(Scenario.PARTITIONS);
      }
    }
  }

  @Test
  @Tag("faults")
  void aNamedInstanceThatLeavesOnStopGivesUpItsShards() {
    setSessionTimeout(Duration.ofSeconds(60));
    try (Service staying = scenario.startService("order-timeout.intake.instance-id", "staying")) {
      try (Service leaving =
          scenario.startService(
              "order-timeout.intake.instance-id",
              "leaving",
              "order-timeout.intake.leave-on-stop",
              "true")) {
        Instance.awaitShared(staying, leaving);
      }
      // It did not stay until its session times out.
      assertThat(members()).containsExactly("staying-0");
      staying.awaitOwnedShards(Scenario.PARTITIONS);
    }
  }

  private List<String> members() {
    return KafkaAdmin.get(
            scenario.kafka().client().describeConsumerGroups(List.of(scenario.name())).all())
        .values()
        .stream()
        .flatMap(group -> group.members().stream())
        .map(member -> member.groupInstanceId().orElse(""))
        .toList();
  }

  @Test
  @Tag("faults")
  void anOrderPaidThroughAnotherInstanceLeavesTheWheelWithoutARepair() {
    String[] reconciling = {
      "order-timeout.reconciler.interval", "1s", "order-timeout.reconciler.confirm-after", "100ms"
    };
    try (Service one = scenario.startService(reconciling);
        Service other = scenario.startService(reconciling)) {
      Instance.awaitShared(one, other);
      int ofOther =
          IntStream.range(0, Scenario.PARTITIONS)
              .filter(shard -> owns(other, shard))
              .findFirst()
              .orElseThrow();
      int ofOne =
          IntStream.range(0, Scenario.PARTITIONS)
              .filter(shard -> owns(one, shard))
              .findFirst()
              .orElseThrow();
      scenario.createPending("order", ofOne);
      await("the order in the wheel")
          .atMost(Duration.ofSeconds(30))
          .until(() -> one.gauge("order.timeout.pending") == 1);

      // As if the order were older than its payment's partition.
      scenario.pay("order", ofOther);

      await("the wheel without the order")
          .atMost(Duration.ofSeconds(30))
          .until(() -> one.gauge("order.timeout.pending") == 0);
      assertThat(one.counter("order.timeout.repaired")).isZero();
      assertThat(other.counter("order.timeout.misplaced.events")).isEqualTo(1);
    }
  }

  private static boolean owns(Service service, int shard) {
    return service.health().matches("(?s).*\"owned\":\\[[^]]*\\b" + shard + "\\b.*");
  }

  @Test
  @Tag("faults")
  void theConsumerThreadsOfAnInstanceShareItsShards() {
    try (Service service =
        scenario.startService(
            "order-timeout.intake.threads", Integer.toString(Scenario.PARTITIONS))) {
      service.awaitOwnedShards(Scenario.PARTITIONS);
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

  /**
   * As if a consumer had stalled beyond its poll interval: the group assigns its shard to another
   * consumer of the same instance before it notices.
   */
  @Test
  void aConsumerThatHasLostItsShardDoesNotReleaseItForAnotherOneOfTheInstance() {
    try (Service service = scenario.startService()) {
      service.awaitOwnedShards(Scenario.PARTITIONS);
      Shards shards = service.bean(Shards.class);
      Shards.Ownership ofStalled = shards.acquire(0);
      shards.acquire(0);

      shards.release(ofStalled);

      assertThat(service.ownedShards()).isEqualTo(Scenario.PARTITIONS);
      scenario.passDeadline("order", 0);
    }
  }

  @Test
  @Tag("faults")
  void aFrozenInstanceDoesNoHarmWhenItResumes() throws IOException {
    try (ServiceProcess frozen =
            scenario.startProcess(scenario.name() + "-frozen", List.of("-Xmx256m"));
        Service other = startWhenReady(frozen)) {
      Instance.awaitShared(frozen, other);
      Instant deadline = Deadlines.afterCreation(scenario);
      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        scenario.create("paid-" + partition, partition, deadline);
        scenario.create("unpaid-" + partition, partition, deadline);
      }
      await("orders").until(() -> scenario.database().pending() == 2L * Scenario.PARTITIONS);
      frozen.freeze();
      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        scenario.pay("paid-" + partition, partition);
      }
      // The session of the frozen instance expires, and the other one takes its shards over.
      other.awaitOwnedShards(Scenario.PARTITIONS);
      scenario.awaitAllDecided();
      assertThat(scenario.outcomes().cancelled()).hasSize(Scenario.PARTITIONS);

      frozen.thaw();

      await("its share again")
          .ignoreExceptionsInstanceOf(IOException.class)
          .until(() -> other.ownedShards() < Scenario.PARTITIONS && frozen.isReady());
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

  @Test
  void anInstanceThatAloneDoesNotReachTheCoordinatorGivesUpItsShards() {
    AtomicBoolean cutOff = new AtomicBoolean();
    try (Admin nowhere = adminWithoutBrokers();
        Service staying = scenario.startService()) {
      BeanPostProcessor failing =
          Interceptors.beans(
              Admin.class,
              call ->
                  cutOff.get() && call.getMethod().getName().equals("describeConsumerGroups")
                      ? call.getMethod().invoke(nowhere, call.getArguments())
                      : call.proceed());
      try (Service leaving =
          scenario.startService(
              List.of(failing), "order-timeout.intake.coordinator-timeout", "10s")) {
        Instance.awaitShared(staying, leaving);

        cutOff.set(true);

        await("a new consumer")
            .until(
                () ->
                    leaving.counter("order.timeout.consumer.replacements", "reason", "membership")
                        > 0);
        // The other instance has found the group working all the time.
        assertThat(staying.gauge("order.timeout.group.generation")).isEqualTo(1);
        assertThat(staying.counter("order.timeout.consumer.replacements")).isZero();
        cutOff.set(false);
        Instance.awaitShared(staying, leaving);
        leaving.awaitReady(true);
      }
    }
  }

  /** A client of Kafka whose requests time out. */
  private static Admin adminWithoutBrokers() {
    return Admin.create(
        Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, Ports.LOOPBACK + ":" + Ports.any()));
  }

  private Service startWhenReady(ServiceProcess first) {
    first.awaitReady();
    return scenario.startService();
  }

  private void setSessionTimeout(Duration timeout) {
    ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, scenario.name());
    ConfigEntry setting =
        new ConfigEntry("consumer.session.timeout.ms", String.valueOf(timeout.toMillis()));
    KafkaAdmin.get(
        scenario
            .kafka()
            .client()
            .incrementalAlterConfigs(
                Map.of(group, List.of(new AlterConfigOp(setting, AlterConfigOp.OpType.SET))))
            .all());
  }
}
