package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.EmbeddedKafka;
import io.ordertimeout.embedded.EmbeddedPlatform;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TestEnvironment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two brokers, of which the second has the payments of shard 0 to itself and goes away; everything
 * else is on the first.
 */
class LeaderUnavailableIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Less than the ten seconds that a question to Kafka takes to time out. */
  private static final Duration IN_TIME = Duration.ofSeconds(8);

  @TempDir private static Path directory;
  private static EmbeddedPlatform platform;
  private static EmbeddedKafka second;

  private Scenario scenario;

  @BeforeAll
  static void startPlatform() {
    platform = EmbeddedPlatform.startTemporary();
    second = platform.secondBroker(directory);
  }

  @AfterAll
  static void stopPlatform() {
    second.close();
    platform.close();
  }

  @BeforeEach
  void open() {
    TestEnvironment both = TestEnvironment.of(platform);
    scenario = Scenario.on(both, both);
    // Kafka makes its own topics on demand, and there is only one broker yet.
    scenario.committed(Map.of());
    scenario.transactionalShop().close();
    start(second);
    moveToSecond(new TopicPartition(scenario.topics().paid(), 0));
  }

  @AfterEach
  void close() {
    second.stop();
    scenario.close();
  }

  @Test
  void onlyOrdersWhosePaymentsNobodyCanReadWaitForIt() {
    try (Service service = scenario.startService();
        Shop till = scenario.transactionalShop()) {
      service.awaitReady(true);
      Instant deadline = Scenario.in(Duration.ofSeconds(8));
      scenario.create("paid", 0, deadline);
      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        scenario.create("unpaid-" + partition, partition, deadline);
        scenario.awaitState("unpaid-" + partition, "PENDING");
      }
      // Committed when it cannot be read any more.
      till.transactions().beginTransaction();
      Shop.await(till.send(scenario.payment("paid", 0)));
      String member = member();
      second.stop();
      till.transactions().commitTransaction();

      assertInTime(scenario.outcomes().awaitCancelled("unpaid-1"));
      assertInTime(scenario.outcomes().awaitCancelled("unpaid-2"));
      await("the lag")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.watermark.lag", "shard", "0") > 3);
      double lag = service.gauge("order.timeout.watermark.lag", "shard", "0");
      assertThatOthersAreServed();
      assertThat(service.gauge("order.timeout.watermark.lag", "shard", "0")).isGreaterThan(lag + 3);
      assertThat(secondsSinceHeartbeat(1)).isLessThan(8);
      assertThat(secondsSinceHeartbeat(2)).isLessThan(8);
      assertThat(secondsSinceHeartbeat(0)).isGreaterThan(5);
      service.awaitReady(false);
      assertThat(service.gauge("order.timeout.failing", "step", "intake-0")).isZero();
      assertThat(member()).isEqualTo(member);

      start(second);

      assertDecided();
      service.awaitReady(true);
      assertThat(member()).isEqualTo(member);
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void aServiceThatStartsMeanwhileServesTheOthers() {
    Instant deadline;
    try (Service service = scenario.startService()) {
      service.awaitReady(true);
      deadline = Scenario.in(Duration.ofSeconds(10));
      for (String orderId : List.of("paid", "unpaid-0")) {
        scenario.create(orderId, 0, deadline);
        scenario.awaitState(orderId, "PENDING");
      }
      scenario.awaitQuiet();
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(2);
    }
    scenario.pay("paid", 0);
    second.stop();

    try (Service service = scenario.startService()) {
      scenario.awaitPast(deadline);
      assertThatOthersAreServed();

      start(second);

      assertDecided();
      service.awaitReady(true);
    }
  }

  @Test
  void soDoesAServiceThatStartsForTheFirstTime() {
    Instant deadline = Scenario.in(Duration.ofSeconds(1));
    scenario.create("paid", 0, deadline);
    scenario.create("unpaid-0", 0, deadline);
    scenario.pay("paid", 0);
    second.stop();

    try (Service service = scenario.startService()) {
      assertThatOthersAreServed();

      start(second);

      assertDecided();
      service.awaitReady(true);
    }
  }

  private void assertThatOthersAreServed() {
    scenario.create("first", 1, Scenario.in(Duration.ofMillis(500)));
    scenario.outcomes().awaitCancelled("first");
    for (int i = 0; i < 10; i++) {
      String orderId = "meanwhile-" + i;
      scenario.create(orderId, 1 + i % 2, Scenario.in(Duration.ofMillis(700)));
      assertInTime(scenario.outcomes().awaitCancelled(orderId));
    }
    // Created orders of the shard are taken in all the same.
    scenario.create("unpaid-too", 0, Scenario.in(Duration.ZERO));
    scenario.awaitState("unpaid-too", "PENDING");
    assertThat(scenario.database().state("unpaid-0")).isEqualTo("PENDING");
    assertThat(scenario.database().state("paid")).isEqualTo("PENDING");
  }

  private void assertDecided() {
    scenario.awaitState("paid", "PAID");
    scenario.outcomes().awaitCancelled("unpaid-0");
    scenario.outcomes().awaitCancelled("unpaid-too");
    scenario.awaitQuiet();
    assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
    assertThat(scenario.outcomes().cancelled("unpaid-0")).hasSize(1);
    assertThat(scenario.outcomes().conflicts()).isEmpty();
  }

  private static void assertInTime(PublishedEvent event) {
    assertThat(Duration.between(event.instant("deadline"), event.instant("cancelledAt")))
        .as(event.key())
        .isBetween(Duration.ZERO, IN_TIME);
  }

  private double secondsSinceHeartbeat(int shard) {
    return Double.parseDouble(
        scenario
            .database()
            .text(
                "select extract(epoch from clock_timestamp() - alive_at)::text"
                    + " from shard_heartbeat where shard = ?",
                shard));
  }

  /** The service's consumer as the group knows it: another one has another id. */
  private String member() {
    ConsumerGroupDescription group =
        Scenario.get(
            Objects.requireNonNull(
                scenario
                    .admin()
                    .describeConsumerGroups(List.of(scenario.name()))
                    .describedGroups()
                    .get(scenario.name())));
    return group.members().stream()
        .map(MemberDescription::consumerId)
        .collect(Collectors.joining(","));
  }

  private void moveToSecond(TopicPartition partition) {
    List<Integer> replicas = List.of(EmbeddedKafka.SECOND);
    Scenario.get(
        scenario
            .admin()
            .alterPartitionReassignments(
                Map.of(partition, Optional.of(new NewPartitionReassignment(replicas))))
            .all());
    await("the move")
        .atMost(PATIENCE)
        .until(
            () -> {
              TopicDescription topic =
                  Scenario.get(
                      Objects.requireNonNull(
                          scenario
                              .admin()
                              .describeTopics(List.of(partition.topic()))
                              .topicNameValues()
                              .get(partition.topic())));
              return topic.partitions().get(partition.partition()).replicas().stream()
                  .map(Node::id)
                  .toList()
                  .equals(replicas);
            });
  }

  private static void start(EmbeddedKafka broker) {
    try {
      broker.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
