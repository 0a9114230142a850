package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Payments in Kafka transactions that are still open at the payment deadline. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OpenTransactionIT {

  private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();
  private final Database database = scenario.database();

  @AfterAll
  void close() {
    assertThat(service.counter("order.timeout.conflicts")).isZero();
    assertThat(service.counter("order.timeout.repaired")).isZero();
    service.close();
    scenario.close();
  }

  @Test
  void anOpenTransactionHoldsTheCancellationBackUntilItIsCommitted() {
    try (Shop transactional = scenario.transactionalShop("committed")) {
      payWithoutCommit("committed", transactional);
      transactional.transactions().commitTransaction();

      scenario.awaitState("committed", "PAID");
      scenario.passDeadline("after-commit", 0);
      assertThat(scenario.outcomes().cancelled("committed")).isEmpty();
      assertThat(scenario.outcomes().conflicts("committed")).isEmpty();
    }
  }

  @Test
  void anAbortedTransactionLetsTheCancellationProceed() {
    try (Shop transactional = scenario.transactionalShop("aborted")) {
      payWithoutCommit("aborted", transactional);
      transactional.transactions().abortTransaction();

      PublishedEvent event = scenario.outcomes().awaitCancelled("aborted");
      assertThat(event.instant("cancelledAt")).isAfter(event.instant("deadline"));
      assertThat(database.state("aborted")).isEqualTo("CANCELLED");
    }
  }

  @Test
  void aTransactionOfADeadProducerHoldsTheCancellationBackUntilKafkaAbortsIt() {
    Duration timeout = Duration.ofSeconds(5);
    try (Shop doomed = scenario.transactionalShop("died", timeout)) {
      Instant begun = Instant.now();
      payWithoutCommit("died", doomed);
      doomed.die();

      PublishedEvent event = scenario.outcomes().awaitCancelled("died");
      assertThat(event.instant("cancelledAt")).isAfter(begun.plus(timeout));
      scenario.awaitQuiet();
      assertThat(scenario.outcomes().cancelled("died")).hasSize(1);
    }
  }

  @Test
  void aTransactionCommittedBeforeItsProducerDiedCounts() {
    try (Shop doomed = scenario.transactionalShop("committed-then-died")) {
      payWithoutCommit("committed-then-died", doomed);
      doomed.transactions().commitTransaction();
      doomed.die();

      scenario.awaitState("committed-then-died", "PAID");
      scenario.passDeadline("after-death", 0);
      assertThat(scenario.outcomes().cancelled("committed-then-died")).isEmpty();
    }
  }

  /** Leaves an order past its deadline, with its payment in a transaction that is still open. */
  private void payWithoutCommit(String orderId, Shop transactional) {
    transactional.transactions().beginTransaction();
    RecordMetadata payment = Shop.await(transactional.send(scenario.payment(orderId, 0)));
    // The payment is in time, however slow the machine is.
    Instant deadline = Instant.ofEpochMilli(payment.timestamp()).plusMillis(500);
    scenario.create(orderId, 0, deadline);
    scenario.awaitState(orderId, "PENDING");
    scenario.awaitPast(deadline);
    // Expiry is at work, and the open transaction does not hold other shards.
    scenario.passDeadline("during-" + orderId, 1);
    assertThat(database.state(orderId)).isEqualTo("PENDING");
    assertThat(scenario.outcomes().cancelled(orderId)).isEmpty();
  }
}
