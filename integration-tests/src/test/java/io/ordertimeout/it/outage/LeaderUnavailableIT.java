package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.EmbeddedKafka;
import io.ordertimeout.embedded.EmbeddedPlatform;
import io.ordertimeout.it.support.Instance;
import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.KafkaAdmin;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TestEnvironment;
import io.ordertimeout.it.traffic.Deadlines;
import io.ordertimeout.orders.platform.kafka.DefaultPartitioner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A partition without a leader: the second of two brokers is the only replica of the payments of
 * shard 0, and is stopped. Everything else is on the first broker.
 */
@Tag("faults")
@Order(20)
class LeaderUnavailableIT {

  /** How long the service may wait for the offsets of the partition without a leader. */
  private static final Duration QUESTION_TIMEOUT = Duration.ofSeconds(20);

  /** Less than the other shards would wait if that question held them back. */
  private static final Duration PROMPT = Duration.ofSeconds(15);

  /** Less than a record waits for the leader of its partition until its delivery fails. */
  private static final Duration PROMPT_PUBLICATION = Duration.ofSeconds(5);

  private static final String GENERATION = "order.timeout.group.generation";

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
    TestEnvironment environment = TestEnvironment.of(platform);
    scenario = Scenario.on(environment, environment);
    // Kafka creates its internal topics on first use; they must be on the first broker.
    scenario.committed(Map.of());
    scenario.transactionalShop().close();
    start(second);
    move(new TopicPartition(scenario.topics().paid(), 0), List.of(EmbeddedKafka.SECOND));
  }

  @AfterEach
  void close() {
    second.stop();
    scenario.close();
  }

  @Test
  void onlyOrdersWhosePaymentsCannotBeReadWait() {
    try (Service service = startService();
        Shop shop = scenario.transactionalShop()) {
      service.awaitReady(true);
      scenario.createPending("paid", 0);
      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        scenario.createPending("unpaid-" + partition, partition);
      }
      // The payment is committed once nobody can read it any more.
      shop.transactions().beginTransaction();
      Shop.await(shop.send(scenario.payment("paid", 0)));
      Set<String> members = scenario.groupMembers();
      second.stop();
      shop.transactions().commitTransaction();

      Deadlines.passNow(scenario.database(), "paid", "unpaid-0", "unpaid-1", "unpaid-2");

      assertPrompt(scenario.outcomes().awaitCancelled("unpaid-1"));
      assertPrompt(scenario.outcomes().awaitCancelled("unpaid-2"));
      awaitLagAbove(service, 0);
      double lag = lag(service);
      assertThatOtherShardsAreServed();
      awaitLagAbove(service, lag + 3);
      await("an old heartbeat of shard 0").until(() -> secondsSinceHeartbeat(0) > 5);
      for (int shard = 1; shard < Scenario.PARTITIONS; shard++) {
        int other = shard;
        await("a recent heartbeat of shard " + other).until(() -> secondsSinceHeartbeat(other) < 3);
      }
      service.awaitReady(false);
      assertThat(service.gauge("order.timeout.failing", "step", "intake-0")).isZero();
      assertThat(scenario.groupMembers()).isEqualTo(members);

      start(second);

      assertDecided();
      service.awaitReady(true);
      assertThat(scenario.groupMembers()).isEqualTo(members);
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void aPartitionOfCancellationsWithoutALeaderDelaysNoOther() {
    TopicPartition unavailable = new TopicPartition(scenario.topics().cancelled(), 0);
    move(unavailable, List.of(EmbeddedKafka.SECOND));
    try (Service service = startService()) {
      service.awaitReady(true);
      List<String> waiting = orderIds("waiting-", 0, 3);
      for (String orderId : waiting) {
        scenario.createPending(orderId, 1);
      }
      second.stop();
      Deadlines.passNow(scenario.database(), waiting.toArray(String[]::new));
      waiting.forEach(orderId -> scenario.awaitState(orderId, "CANCELLED"));

      for (int i = 0; i < 5; i++) {
        String orderId = orderIds("served-" + i + "-", 1 + i % 2, 1).get(0);
        scenario.create(orderId, 1 + i % 2, Scenario.in(Duration.ofMillis(500)));
        PublishedEvent event = scenario.outcomes().awaitCancelled(orderId);
        assertThat(Instant.ofEpochMilli(event.record().timestamp()))
            .as(orderId)
            .isBefore(event.instant("cancelledAt").plus(PROMPT_PUBLICATION));
      }
      service.awaitReady(false);

      start(second);

      waiting.forEach(orderId -> scenario.outcomes().awaitCancelled(orderId));
      scenario.awaitQuiet();
      service.awaitReady(true);
    }
  }

  @Test
  void aServiceThatStartsDecidesTheOrdersOfWhichNoUnreadPartitionMayTell() {
    move(new TopicPartition(scenario.topics().cancelled(), 0), List.of(EmbeddedKafka.SECOND));
    String waiting = orderIds("waiting-", 0, 1).get(0);
    try (Service service = startService()) {
      service.awaitReady(true);
      scenario.createPending(waiting, 1);
    }
    second.stop();
    try (Service service = startService()) {
      Deadlines.passNow(scenario.database(), waiting);
      for (int i = 0; i < 5; i++) {
        String orderId = orderIds("served-" + i + "-", 1 + i % 2, 1).get(0);
        scenario.create(orderId, 1 + i % 2, Scenario.in(Duration.ofMillis(500)));
        PublishedEvent cancelled = scenario.outcomes().awaitCancelled(orderId);
        // The first one may have waited for the start of the service.
        if (i > 0) {
          assertPrompt(cancelled);
        }
      }
      assertThat(service.gauge("order.timeout.failing", "step", "read-back")).isPositive();
      assertThat(scenario.database().state(waiting)).isEqualTo("PENDING");

      start(second);

      scenario.outcomes().awaitCancelled(waiting);
      scenario.awaitQuiet();
      service.awaitReady(true);
      assertThat(service.gauge("order.timeout.failing", "step", "read-back")).isZero();
    }
  }

  /** Returns order ids that Kafka's partitioner assigns to the partition. */
  private static List<String> orderIds(String prefix, int partition, int count) {
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> prefix + i)
        .filter(orderId -> DefaultPartitioner.partition(orderId, Scenario.PARTITIONS) == partition)
        .limit(count)
        .toList();
  }

  @Test
  void aServiceThatStartsMeanwhileServesTheOtherShards() {
    try (Service service = startService()) {
      service.awaitReady(true);
      scenario.createPending("paid", 0);
      scenario.createPending("unpaid-0", 0);
      scenario.awaitQuiet();
      assertThat(service.gauge("order.timeout.pending")).isEqualTo(2);
    }
    scenario.pay("paid", 0);
    Deadlines.passNow(scenario.database(), "paid", "unpaid-0");
    assertThatAServiceWithoutTheLeaderServesTheOtherShards();
  }

  @Test
  void aServiceThatStartsForTheFirstTimeServesTheOtherShards() {
    Instant deadline = Scenario.in(Duration.ofSeconds(1));
    scenario.create("paid", 0, deadline);
    scenario.create("unpaid-0", 0, deadline);
    scenario.pay("paid", 0);
    assertThatAServiceWithoutTheLeaderServesTheOtherShards();
  }

  @Test
  void theFleetLeavesAGroupThatNoBrokerCoordinates() throws IOException {
    String groupId = groupOfWhichTheNextGenerationHasAnotherCoordinator();
    TopicPartition offsets = new TopicPartition("__consumer_offsets", coordinator(groupId));
    List<Integer> usual = replicas(offsets);
    move(offsets, List.of(EmbeddedKafka.SECOND));
    String[] settings = {
      "order-timeout.intake.group-id", groupId, "order-timeout.intake.coordinator-timeout", "10s"
    };
    try (Service one = scenario.startService(settings)) {
      try (Service other = scenario.startService(settings)) {
        Instance.awaitShared(one, other);
        scenario.createPending("unpaid-1", 1);
        scenario.createPending("unpaid-2", 2);

        second.stop();

        for (Service service : List.of(one, other)) {
          await("the next generation of the group").until(() -> service.gauge(GENERATION) == 2);
        }
        Instance.awaitShared(one, other);
      }
      Deadlines.passNow(scenario.database(), "unpaid-1", "unpaid-2");
      assertPrompt(scenario.outcomes().awaitCancelled("unpaid-1"));
      assertPrompt(scenario.outcomes().awaitCancelled("unpaid-2"));
      one.awaitOwnedShards(Scenario.PARTITIONS);
      assertThat(one.gauge("order.timeout.failing", "step", "group-coordinator")).isZero();
      assertThat(one.counter("order.timeout.repaired")).isZero();
    } finally {
      start(second);
      move(offsets, usual);
    }
  }

  private String groupOfWhichTheNextGenerationHasAnotherCoordinator() {
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> scenario.name() + "-" + i)
        .filter(groupId -> coordinator(groupId) != coordinator(groupId + ".g2"))
        .findFirst()
        .orElseThrow();
  }

  /** The partition of the group's offsets, whose leader is the group's coordinator. */
  private int coordinator(String groupId) {
    int partitions = describe("__consumer_offsets").partitions().size();
    return Math.abs(groupId.hashCode() % partitions);
  }

  private void assertThatAServiceWithoutTheLeaderServesTheOtherShards() {
    second.stop();
    try (Service service = startService()) {
      assertThatOtherShardsAreServed();

      start(second);

      assertDecided();
      service.awaitReady(true);
    }
  }

  /** Starts the service with a longer time-out of its questions for end offsets. */
  private Service startService() {
    return scenario.startService(
        List.of(
            Interceptors.beans(
                Admin.class,
                call -> {
                  Object[] arguments = call.getArguments();
                  if (call.getMethod().getName().equals("listOffsets") && arguments.length > 1) {
                    ((ListOffsetsOptions) arguments[1])
                        .timeoutMs((int) QUESTION_TIMEOUT.toMillis());
                  }
                  return call.proceed();
                })));
  }

  private void assertThatOtherShardsAreServed() {
    for (int i = 0; i < 5; i++) {
      String orderId = "meanwhile-" + i;
      scenario.create(orderId, 1 + i % 2, Scenario.in(Duration.ofMillis(500)));
      PublishedEvent cancelled = scenario.outcomes().awaitCancelled(orderId);
      // The first one may have waited for the start of the service.
      if (i > 0) {
        assertPrompt(cancelled);
      }
    }
    // Created orders of shard 0 are still stored.
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

  private static void assertPrompt(PublishedEvent event) {
    assertThat(Duration.between(event.instant("deadline"), event.instant("cancelledAt")))
        .as(event.key())
        .isBetween(Duration.ZERO, PROMPT);
  }

  private static void awaitLagAbove(Service service, double seconds) {
    await("a watermark lag above " + seconds + " s").until(() -> lag(service) > seconds);
  }

  private static double lag(Service service) {
    return service.gauge("order.timeout.watermark.lag", "shard", "0");
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

  private void move(TopicPartition partition, List<Integer> replicas) {
    KafkaAdmin.get(
        scenario
            .kafka()
            .client()
            .alterPartitionReassignments(
                Map.of(partition, Optional.of(new NewPartitionReassignment(replicas))))
            .all());
    await("the reassignment").until(() -> replicas(partition).equals(replicas));
  }

  private List<Integer> replicas(TopicPartition partition) {
    return describe(partition.topic()).partitions().get(partition.partition()).replicas().stream()
        .map(Node::id)
        .toList();
  }

  private TopicDescription describe(String topic) {
    return KafkaAdmin.get(
        Objects.requireNonNull(
            scenario.kafka().client().describeTopics(List.of(topic)).topicNameValues().get(topic)));
  }

  private static void start(EmbeddedKafka broker) {
    try {
      broker.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
