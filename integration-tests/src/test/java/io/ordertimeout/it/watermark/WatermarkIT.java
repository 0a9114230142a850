package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
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

/** Payments that lie in Kafka but are not read yet. */
class WatermarkIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int ORDERS = 1_000;
  private static final int OTHER_PAYMENTS = 20_000;

  private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();
  private final TopicNames topics = scenario.topics();

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void howeverFarBehindItIsNoPaidOrderIsCancelled() {
    Map<String, String> expected = publishPaymentsBehindManyOthers();

    try (Service service = startSlowService()) {
      assertDecided(expected);
      assertThat(service.counter("order.timeout.conflicts")).isZero();
    }
  }

  @Test
  void aRestartFarBehindCancelsNoPaidOrder() {
    Map<String, String> expected = publishPaymentsBehindManyOthers();

    try (Service service = startSlowService()) {
      await("some of it").atMost(PATIENCE).until(() -> database.states().size() > ORDERS * 2);
      assertThat(service.counter("order.timeout.conflicts")).isZero();
    }
    assertThat(database.states()).hasSizeLessThan(ORDERS + OTHER_PAYMENTS);
    assertThat(scenario.outcomes().cancelled()).isEmpty();

    try (Service service = startSlowService()) {
      assertDecided(expected);
      assertThat(service.counter("order.timeout.conflicts")).isZero();
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  /** Orders that are overdue; their payments lie behind many that do not count. */
  private Map<String, String> publishPaymentsBehindManyOthers() {
    Instant createdAt = Instant.now().truncatedTo(ChronoUnit.MICROS).minusSeconds(60);
    Map<String, String> creation = Map.of("createdAt", createdAt.toString(), "timeout", "PT30S");
    List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
    for (int i = 0; i < ORDERS; i++) {
      sent.add(scenario.shop().send(topics.created(), "order-" + i, creation));
    }
    for (int i = 0; i < OTHER_PAYMENTS; i++) {
      sent.add(scenario.shop().send(topics.paid(), "other-" + i, Map.of("paymentId", "p")));
    }
    Map<String, String> expected = new HashMap<>();
    for (int i = 0; i < ORDERS; i++) {
      boolean paid = i % 10 != 0;
      expected.put("order-" + i, paid ? "PAID" : "CANCELLED");
      if (paid) {
        sent.add(scenario.shop().send(topics.paid(), "order-" + i, Map.of("paymentId", "p")));
      }
    }
    sent.forEach(Shop::await);
    return expected;
  }

  private Service startSlowService() {
    return scenario.startService("order-timeout.intake.batch-size", "100");
  }

  private void assertDecided(Map<String, String> expected) {
    scenario.awaitAllDecided();
    assertThat(database.states()).containsAllEntriesOf(expected).hasSize(ORDERS + OTHER_PAYMENTS);
    assertThat(scenario.outcomes().cancelled())
        .extracting(PublishedEvent::key)
        .hasSize(ORDERS / 10)
        .doesNotHaveDuplicates()
        .allMatch(orderId -> "CANCELLED".equals(expected.get(orderId)));
    assertThat(scenario.outcomes().conflicts()).isEmpty();
  }

  @Test
  void anOpenTransactionWithThePaymentHoldsBackTheCancellationUntilItIsCommitted() {
    try (Service service = scenario.startService();
        Shop transactional = scenario.transactionalShop()) {
      payWithoutCommit(transactional);
      transactional.transactions().commitTransaction();

      scenario.awaitState("held", "PAID");
      passADeadlineOfPartition(0, "after");
      assertThat(scenario.outcomes().cancelled("held")).isEmpty();
      assertThat(scenario.outcomes().conflicts("held")).isEmpty();
      assertThat(service.counter("order.timeout.conflicts")).isZero();
    }
  }

  @Test
  void anOpenTransactionThatIsAbortedLetsTheCancellationGo() {
    try (Service service = scenario.startService();
        Shop transactional = scenario.transactionalShop()) {
      payWithoutCommit(transactional);
      transactional.transactions().abortTransaction();

      PublishedEvent event = scenario.outcomes().awaitCancelled("held");
      assertThat(event.instant("cancelledAt")).isAfter(event.instant("deadline"));
      assertThat(database.state("held")).isEqualTo("CANCELLED");
      assertThat(service.counter("order.timeout.conflicts")).isZero();
    }
  }

  @Test
  void aTransactionWhoseProducerDiedHoldsBackTheCancellationUntilKafkaAbortsIt() {
    Duration timeout = Duration.ofSeconds(10);
    try (Service service = scenario.startService();
        Shop doomed = scenario.transactionalShop(scenario.name(), timeout)) {
      RecordMetadata payment = payWithoutCommit(doomed);
      doomed.die();

      PublishedEvent event = scenario.outcomes().awaitCancelled("held");
      assertThat(event.instant("cancelledAt"))
          .isAfter(Instant.ofEpochMilli(payment.timestamp()).plus(timeout));
      scenario.awaitQuiet();
      assertThat(scenario.outcomes().cancelled("held")).hasSize(1);
      assertThat(service.counter("order.timeout.conflicts")).isZero();
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }

  @Test
  void aTransactionWhoseProducerDiedAfterItsCommitCounts() {
    try (Service service = scenario.startService();
        Shop doomed = scenario.transactionalShop()) {
      payWithoutCommit(doomed);
      doomed.transactions().commitTransaction();
      doomed.die();

      scenario.awaitState("held", "PAID");
      passADeadlineOfPartition(0, "after");
      assertThat(scenario.outcomes().cancelled("held")).isEmpty();
      assertThat(service.counter("order.timeout.conflicts")).isZero();
    }
  }

  /** Leaves the order past its deadline, its payment in a transaction that is still open. */
  private RecordMetadata payWithoutCommit(Shop transactional) {
    Instant deadline = Instant.now().truncatedTo(ChronoUnit.MICROS).plusSeconds(3);
    scenario.create("held", 0, deadline);
    scenario.awaitState("held", "PENDING");
    transactional.transactions().beginTransaction();
    RecordMetadata payment = Shop.await(transactional.send(scenario.payment("held", 0)));
    assertThat(Instant.ofEpochMilli(payment.timestamp())).isBefore(deadline);

    scenario.awaitPast(deadline);
    // Expiry is at work, and other shards are not held.
    passADeadlineOfPartition(1, "meanwhile");
    assertThat(database.state("held")).isEqualTo("PENDING");
    assertThat(scenario.outcomes().cancelled("held")).isEmpty();
    return payment;
  }

  private void passADeadlineOfPartition(int partition, String orderId) {
    scenario.create(orderId, partition, Scenario.in(Duration.ofMillis(500)));
    scenario.outcomes().awaitCancelled(orderId);
  }
}
