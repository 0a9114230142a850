package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.rig.Database;
import io.ordertimeout.it.rig.PublishedEvent;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Shop;
import io.ordertimeout.it.rig.Stage;
import io.ordertimeout.it.rig.TopicNames;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Payments that lie in Kafka but are not read yet. */
class WatermarkIT {

  private final Stage stage = Stage.create();
  private final Database database = stage.database();
  private final TopicNames topics = stage.topics();

  @AfterEach
  void close() {
    stage.close();
  }

  @Test
  void howeverFarBehindItIsNoPaidOrderIsCancelled() {
    int orders = 1_000;
    int otherPayments = 20_000;
    Instant createdAt = Instant.now().truncatedTo(ChronoUnit.MICROS).minusSeconds(60);
    Map<String, String> creation = Map.of("createdAt", createdAt.toString(), "timeout", "PT30S");
    List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
    for (int i = 0; i < orders; i++) {
      sent.add(stage.shop().send(topics.created(), "order-" + i, creation));
    }
    // The payments that count lie behind many that do not.
    for (int i = 0; i < otherPayments; i++) {
      sent.add(stage.shop().send(topics.paid(), "other-" + i, Map.of("paymentId", "p")));
    }
    Map<String, String> expected = new HashMap<>();
    for (int i = 0; i < orders; i++) {
      boolean paid = i % 10 != 0;
      expected.put("order-" + i, paid ? "PAID" : "CANCELLED");
      if (paid) {
        sent.add(stage.shop().send(topics.paid(), "order-" + i, Map.of("paymentId", "p")));
      }
    }
    sent.forEach(Shop::await);

    try (Service service = stage.startService("order-timeout.intake.batch-size", "100")) {
      stage.awaitAllDecided();

      Map<String, String> states = database.states();
      assertThat(states).containsAllEntriesOf(expected).hasSize(orders + otherPayments);
      assertThat(stage.outcomes().cancelled())
          .extracting(PublishedEvent::key)
          .hasSize(orders / 10)
          .doesNotHaveDuplicates()
          .allMatch(orderId -> "CANCELLED".equals(expected.get(orderId)));
      assertThat(stage.outcomes().conflicts()).isEmpty();
      assertThat(service.counter("order.timeout.conflicts")).isZero();
    }
  }

  @Test
  void anOpenTransactionWithThePaymentHoldsBackTheCancellationUntilItIsCommitted() {
    try (Service service = stage.startService();
        Shop transactional = stage.transactionalShop()) {
      payWithoutCommit(transactional);
      transactional.transactions().commitTransaction();

      stage.awaitState("held", "PAID");
      passADeadlineOfPartition(0, "after");
      assertThat(stage.outcomes().cancelled("held")).isEmpty();
      assertThat(stage.outcomes().conflicts("held")).isEmpty();
      assertThat(service.counter("order.timeout.conflicts")).isZero();
    }
  }

  @Test
  void anOpenTransactionThatIsAbortedLetsTheCancellationGo() {
    try (Service service = stage.startService();
        Shop transactional = stage.transactionalShop()) {
      payWithoutCommit(transactional);
      transactional.transactions().abortTransaction();

      PublishedEvent event = stage.outcomes().awaitCancelled("held");
      assertThat(event.instant("cancelledAt")).isAfter(event.instant("deadline"));
      assertThat(database.state("held")).isEqualTo("CANCELLED");
      assertThat(service.counter("order.timeout.conflicts")).isZero();
    }
  }

  /** Leaves the order past its deadline, its payment in a transaction that is still open. */
  private void payWithoutCommit(Shop transactional) {
    Instant deadline = Instant.now().truncatedTo(ChronoUnit.MICROS).plusSeconds(3);
    create("held", 0, deadline);
    stage.awaitState("held", "PENDING");
    transactional.transactions().beginTransaction();
    RecordMetadata payment =
        Shop.await(
            transactional.send(
                new ProducerRecord<>(
                    topics.paid(),
                    0,
                    Shop.utf8("held"),
                    Shop.json(Map.of("orderId", "held", "paymentId", "p1")))));
    assertThat(Instant.ofEpochMilli(payment.timestamp())).isBefore(deadline);

    stage.awaitPast(deadline);
    // Expiry is at work, and other shards are not held.
    passADeadlineOfPartition(1, "meanwhile");
    assertThat(database.state("held")).isEqualTo("PENDING");
    assertThat(stage.outcomes().cancelled("held")).isEmpty();
  }

  private void passADeadlineOfPartition(int partition, String orderId) {
    create(orderId, partition, Instant.now().plusMillis(500));
    stage.outcomes().awaitCancelled(orderId);
  }

  private void create(String orderId, int partition, Instant deadline) {
    Shop.await(
        stage
            .shop()
            .send(
                new ProducerRecord<>(
                    topics.created(),
                    partition,
                    Shop.utf8(orderId),
                    Shop.json(Map.of("orderId", orderId, "payBy", deadline.toString())))));
  }
}
