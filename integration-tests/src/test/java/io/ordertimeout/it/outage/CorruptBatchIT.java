package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.EmbeddedPlatform;
import io.ordertimeout.it.support.CorruptBatch;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TestEnvironment;
import io.ordertimeout.it.traffic.Deadlines;
import io.ordertimeout.orders.platform.kafka.DefaultPartitioner;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One bit flipped on the broker's disk: only what needs the corrupt partition waits. */
@Tag("faults")
@Order(20)
class CorruptBatchIT {

  /** How soon the other partitions have to be served. */
  private static final Duration PROMPT = Duration.ofSeconds(5);

  /** The partition with the corrupt batch. */
  private static final int CORRUPT = 1;

  private static final List<Integer> OTHERS = List.of(0, 2);

  /** Orders one after the other, long enough for a consumer that fails to be replaced. */
  private static final int ROUNDS = 10;

  private static EmbeddedPlatform platform;

  @AutoClose private Scenario scenario;

  @BeforeAll
  static void startPlatform() {
    platform = EmbeddedPlatform.startTemporary();
  }

  @AfterAll
  static void stopPlatform() {
    platform.close();
  }

  @BeforeEach
  void open() {
    TestEnvironment environment = TestEnvironment.of(platform);
    scenario = Scenario.on(environment, environment);
  }

  @Test
  void aCorruptBatchOfPaymentsHoldsBackItsPartitionAlone() {
    createOrders();
    try (Service service = scenario.startService();
        Shop shop = scenario.transactionalShop()) {
      service.awaitReady(true);
      // Nobody reads the payment before it is corrupt.
      shop.transactions().beginTransaction();
      CorruptBatch batch =
          corrupt(Shop.await(shop.send(scenario.payment(id("paid", CORRUPT), CORRUPT))));
      shop.transactions().commitTransaction();

      assertThatTheOthersDoNotWait(service, batch);
    }
  }

  @Test
  void aServiceThatStartsServesTheOtherPartitions() {
    createOrders();
    try (Service service = scenario.startService()) {
      service.awaitReady(true);
      scenario.awaitQuiet();
    }
    CorruptBatch batch = corrupt(scenario.pay(id("paid", CORRUPT), CORRUPT));
    try (Service service = scenario.startService()) {
      assertThatTheOthersDoNotWait(service, batch);
    }
  }

  @Test
  void aServiceThatStartsForTheFirstTimeServesTheOtherPartitions() {
    createOrders();
    CorruptBatch batch = corrupt(scenario.pay(id("paid", CORRUPT), CORRUPT));
    try (Service service = scenario.startService()) {
      assertThatTheOthersDoNotWait(service, batch);
    }
  }

  @Test
  void aCorruptBatchOfCancellationsDelaysItsOrdersAlone() {
    createOrders();
    try (Service service = scenario.startService()) {
      service.awaitReady(true);
      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        scenario.passDeadline(id("published", partition), partition);
      }
      scenario.awaitQuiet();
      CorruptBatch batch =
          CorruptBatch.at(
              brokerDirectory(), new TopicPartition(scenario.topics().cancelled(), CORRUPT), 0);
      // As a loss of commits leaves them, so that the cancellations have to be read back.
      scenario.database().execute("update published_position set next_offset = 0");

      platform.crashPostgres();
      platform.startPostgres();

      scenario.create(id("probe", 0), 0, Scenario.in(Duration.ofHours(1)));
      await("the first order that is stored after the restart")
          .atMost(PROMPT.multipliedBy(6))
          .ignoreExceptions()
          .until(() -> "PENDING".equals(scenario.database().state(id("probe", 0))));
      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        scenario.pay(id("paid", partition), partition);
        awaitPrompt(id("paid", partition), "PAID");
      }
      passDeadlines("unpaid");
      assertThatTheOthersAreCancelledPromptly();
      service.awaitReady(false);
      assertThat(scenario.database().state(id("unpaid", CORRUPT))).isEqualTo("PENDING");
      assertThat(service.counter("order.timeout.consumer.replacements")).isZero();

      batch.restore();

      assertDecided();
      service.awaitReady(true);
      for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
        assertThat(scenario.outcomes().cancelled(id("published", partition))).hasSize(1);
      }
    }
  }

  /** An id of an order that Kafka's partitioner assigns to the partition. */
  private static String id(String prefix, int partition) {
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> prefix + "-" + partition + "-" + i)
        .filter(orderId -> DefaultPartitioner.partition(orderId, Scenario.PARTITIONS) == partition)
        .findFirst()
        .orElseThrow();
  }

  private void createOrders() {
    for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
      for (String prefix : List.of("paid", "unpaid")) {
        scenario.create(id(prefix, partition), partition, Scenario.in(Duration.ofHours(1)));
      }
    }
  }

  private static CorruptBatch corrupt(RecordMetadata record) {
    return CorruptBatch.at(
        brokerDirectory(), new TopicPartition(record.topic(), record.partition()), record.offset());
  }

  private static Path brokerDirectory() {
    return platform.dataDirectory().resolve("kafka");
  }

  /**
   * Checks what is served while the payment in the corrupt batch cannot be read, and afterwards.
   */
  private void assertThatTheOthersDoNotWait(Service service, CorruptBatch batch) {
    service.awaitOwnedShards(Scenario.PARTITIONS);
    Set<String> members = scenario.groupMembers();
    for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
      scenario.awaitState(id("paid", partition), "PENDING");
      scenario.awaitState(id("unpaid", partition), "PENDING");
    }
    for (int partition : OTHERS) {
      scenario.pay(id("paid", partition), partition);
      awaitPrompt(id("paid", partition), "PAID");
    }
    passDeadlines("unpaid");
    Deadlines.passNow(scenario.database(), id("paid", CORRUPT));
    assertThatTheOthersAreCancelledPromptly();
    await("the report of the partition that cannot be read").until(() -> failing(service) > 0);
    service.awaitReady(false);
    for (String prefix : List.of("paid", "unpaid")) {
      assertThat(scenario.database().state(id(prefix, CORRUPT))).as(prefix).isEqualTo("PENDING");
    }

    batch.restore();

    assertDecided();
    service.awaitReady(true);
    assertThat(failing(service)).isZero();
    assertThat(scenario.groupMembers()).isEqualTo(members);
    assertThat(service.counter("order.timeout.consumer.replacements")).isZero();
    assertThat(service.counter("order.timeout.repaired")).isZero();
  }

  private static double failing(Service service) {
    return service.gauge("order.timeout.failing", "step", "unreadable-0");
  }

  private void passDeadlines(String prefix) {
    Deadlines.passNow(
        scenario.database(),
        IntStream.range(0, Scenario.PARTITIONS)
            .mapToObj(partition -> id(prefix, partition))
            .toArray(String[]::new));
  }

  private void awaitPrompt(String orderId, String state) {
    await(orderId + " " + state)
        .atMost(PROMPT)
        .until(() -> state.equals(scenario.database().state(orderId)));
  }

  private void assertThatTheOthersAreCancelledPromptly() {
    OTHERS.forEach(partition -> assertPrompt(id("unpaid", partition)));
    for (int round = 0; round < ROUNDS; round++) {
      for (int partition : OTHERS) {
        String orderId = id("meanwhile-" + round, partition);
        scenario.create(orderId, partition, Scenario.in(Duration.ofMillis(500)));
        assertPrompt(orderId);
      }
    }
  }

  private void assertPrompt(String orderId) {
    PublishedEvent cancelled = scenario.outcomes().awaitCancelled(orderId);
    assertThat(Duration.between(cancelled.instant("deadline"), cancelled.instant("cancelledAt")))
        .as("lateness of %s", orderId)
        .isBetween(Duration.ZERO, PROMPT);
  }

  private void assertDecided() {
    scenario.awaitState(id("paid", CORRUPT), "PAID");
    scenario.outcomes().awaitCancelled(id("unpaid", CORRUPT));
    scenario.awaitQuiet();
    for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
      assertThat(scenario.outcomes().cancelled(id("paid", partition))).isEmpty();
      assertThat(scenario.outcomes().cancelled(id("unpaid", partition))).hasSize(1);
    }
    assertThat(scenario.outcomes().conflicts()).isEmpty();
  }
}
