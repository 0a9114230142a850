package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.rig.PublishedEvent;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Shop;
import io.ordertimeout.it.rig.Stage;
import io.ordertimeout.it.rig.TestPlatform;
import io.ordertimeout.local.EmbeddedKafka;
import io.ordertimeout.local.EmbeddedPlatform;
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
class LeaderAwayIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Less than the ten seconds that a question to Kafka takes to time out. */
  private static final Duration IN_TIME = Duration.ofSeconds(8);

  @TempDir private static Path directory;
  private static EmbeddedPlatform platform;
  private static EmbeddedKafka second;

  private Stage stage;

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
    TestPlatform both = TestPlatform.of(platform);
    stage = Stage.on(both, both);
    // Kafka makes its own topics on demand, and there is only one broker yet.
    stage.committed(Map.of());
    stage.transactionalShop().close();
    start(second);
    moveToSecond(new TopicPartition(stage.topics().paid(), 0));
  }

  @AfterEach
  void close() {
    second.stop();
    stage.close();
  }

  @Test
  void onlyOrdersWhosePaymentsNobodyCanReadWaitForIt() {
    try (Service service = stage.startService();
        Shop till = stage.transactionalShop()) {
      service.awaitReady(true);
      Instant deadline = Stage.in(Duration.ofSeconds(8));
      stage.create("paid", 0, deadline);
      for (int partition = 0; partition < Stage.PARTITIONS; partition++) {
        stage.create("unpaid-" + partition, partition, deadline);
        stage.awaitState("unpaid-" + partition, "PENDING");
      }
      // Committed when it cannot be read any more.
      till.transactions().beginTransaction();
      Shop.await(till.send(stage.payment("paid", 0)));
      String member = member();
      second.stop();
      till.transactions().commitTransaction();

      assertInTime(stage.outcomes().awaitCancelled("unpaid-1"));
      assertInTime(stage.outcomes().awaitCancelled("unpaid-2"));
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
    try (Service service = stage.startService()) {
      service.awaitReady(true);
      deadline = Stage.in(Duration.ofSeconds(10));
      for (String orderId : List.of("paid", "unpaid-0")) {
        stage.create(orderId, 0, deadline);
        stage.awaitState(orderId, "PENDING");
      }
      stage.awaitQuiet();
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(2);
    }
    stage.pay("paid", 0);
    second.stop();

    try (Service service = stage.startService()) {
      stage.awaitPast(deadline);
      assertThatOthersAreServed();

      start(second);

      assertDecided();
      service.awaitReady(true);
    }
  }

  @Test
  void soDoesAServiceThatStartsForTheFirstTime() {
    Instant deadline = Stage.in(Duration.ofSeconds(1));
    stage.create("paid", 0, deadline);
    stage.create("unpaid-0", 0, deadline);
    stage.pay("paid", 0);
    second.stop();

    try (Service service = stage.startService()) {
      assertThatOthersAreServed();

      start(second);

      assertDecided();
      service.awaitReady(true);
    }
  }

  private void assertThatOthersAreServed() {
    stage.create("first", 1, Stage.in(Duration.ofMillis(500)));
    stage.outcomes().awaitCancelled("first");
    for (int i = 0; i < 10; i++) {
      String orderId = "meanwhile-" + i;
      stage.create(orderId, 1 + i % 2, Stage.in(Duration.ofMillis(700)));
      assertInTime(stage.outcomes().awaitCancelled(orderId));
    }
    // Created orders of the shard are taken in all the same.
    stage.create("unpaid-too", 0, Stage.in(Duration.ZERO));
    stage.awaitState("unpaid-too", "PENDING");
    assertThat(stage.database().state("unpaid-0")).isEqualTo("PENDING");
    assertThat(stage.database().state("paid")).isEqualTo("PENDING");
  }

  private void assertDecided() {
    stage.awaitState("paid", "PAID");
    stage.outcomes().awaitCancelled("unpaid-0");
    stage.outcomes().awaitCancelled("unpaid-too");
    stage.awaitQuiet();
    assertThat(stage.outcomes().cancelled("paid")).isEmpty();
    assertThat(stage.outcomes().cancelled("unpaid-0")).hasSize(1);
    assertThat(stage.outcomes().conflicts()).isEmpty();
  }

  private static void assertInTime(PublishedEvent event) {
    assertThat(Duration.between(event.instant("deadline"), event.instant("cancelledAt")))
        .as(event.key())
        .isBetween(Duration.ZERO, IN_TIME);
  }

  private double secondsSinceHeartbeat(int shard) {
    return Double.parseDouble(
        stage
            .database()
            .text(
                "select extract(epoch from clock_timestamp() - alive_at)::text"
                    + " from shard_heartbeat where shard = ?",
                shard));
  }

  /** The service's consumer as the group knows it: another one has another id. */
  private String member() {
    ConsumerGroupDescription group =
        Stage.get(
            Objects.requireNonNull(
                stage
                    .admin()
                    .describeConsumerGroups(List.of(stage.name()))
                    .describedGroups()
                    .get(stage.name())));
    return group.members().stream()
        .map(MemberDescription::consumerId)
        .collect(Collectors.joining(","));
  }

  private void moveToSecond(TopicPartition partition) {
    List<Integer> replicas = List.of(EmbeddedKafka.SECOND);
    Stage.get(
        stage
            .admin()
            .alterPartitionReassignments(
                Map.of(partition, Optional.of(new NewPartitionReassignment(replicas))))
            .all());
    await("the move")
        .atMost(PATIENCE)
        .until(
            () -> {
              TopicDescription topic =
                  Stage.get(
                      Objects.requireNonNull(
                          stage
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
