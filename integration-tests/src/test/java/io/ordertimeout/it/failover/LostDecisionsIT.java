package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.UnreadRecords;
import io.ordertimeout.it.traffic.Deadlines;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Decisions that were published before a failover lost them: what the world has seen stays true.
 */
@Tag("faults")
@Order(20)
class LostDecisionsIT extends FailoverFixture {

  /** Long enough for a decision that comes, and short for one that never will. */
  private static final Duration PATIENCE_FOR_SECOND_DECISION = Duration.ofSeconds(4);

  @Test
  void aLostCancellationIsRestoredThoughNothingElseIsLost() {
    try (Service service = scenario().startService()) {
      PublishedEvent published = loseCancellation("order");

      scenario().awaitState("order", "CANCELLED");
      assertCancelledAs(published);
      scenario().pay("order", 0);
      PublishedEvent conflict = assertOneConflict("order");
      assertThat(conflict.text("cancelledAt")).isEqualTo(published.text("cancelledAt"));
      assertCancelledAs(published);
      scenario().passDeadline("another", 0);
      service.awaitReady(true);
      assertNothingHeld();
    }
  }

  /**
   * After the failover, the order is due in an hour again, until its cancellation is restored, here
   * from a CloudEvent in structured mode.
   */
  @Test
  void aRestoredCancellationLeavesTheWheelWithoutARepair() {
    try (Service service =
        scenario()
            .startService(
                "order-timeout.outbox.format", "structured",
                "order-timeout.reconciler.interval", "1s",
                "order-timeout.reconciler.confirm-after", "100ms")) {
      PublishedEvent published = loseCancellation("order");

      scenario().awaitState("order", "CANCELLED");
      await("the wheel without the order")
          .atMost(PATIENCE)
          .until(
              () ->
                  service.ownedShards() == Scenario.PARTITIONS
                      && service.gauge("order.timeout.pending") == 0);
      assertThat(service.counter("order.timeout.repaired", "kind", "extra")).isZero();
      assertCancelledAs(published);
    }
  }

  @Test
  void aPaymentThatWaitsForPostgresMeetsTheLostCancellation() {
    try (Service service = scenario().startService()) {
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      PublishedEvent published = cancel("order");
      scenario().create("created-lost", 1, Scenario.in(Duration.ZERO));
      PublishedEvent alsoPublished = outcomes().awaitCancelled("created-lost");
      scenario().create("created-lost-unpaid", 2, Scenario.in(Duration.ZERO));
      PublishedEvent unpaid = outcomes().awaitCancelled("created-lost-unpaid");
      scenario().awaitQuiet();

      pair().crashPrimary();
      scenario().pay("order", 0);
      scenario().pay("created-lost", 1);
      pair().promote();
      pair().connectClients();

      awaitStored();
      assertOneConflict("order");
      assertOneConflict("created-lost");
      scenario().awaitState("created-lost-unpaid", "CANCELLED");
      scenario().awaitQuiet();
      assertCancelledAs(published);
      assertCancelledAs(alsoPublished);
      assertCancelledAs(unpaid);
      service.awaitReady(true);
      assertNothingHeld();
    }
  }

  @Test
  void aLostConflictIsNotRaisedUnderAnotherId() {
    try (Service service = scenario().startService()) {
      createPending(List.of("kept"));
      createPending(List.of("lost"));
      PublishedEvent kept = cancel("kept");
      scenario().awaitQuiet();
      pair().cutReplication();
      PublishedEvent lost = cancel("lost");
      // Without a payment id, the service derives one.
      scenario().shop().paid("kept", Map.of());
      scenario().pay("lost", 0);
      PublishedEvent conflictOfKept = outcomes().awaitConflicts("kept", 1).get(0);
      PublishedEvent conflictOfLost = outcomes().awaitConflicts("lost", 1).get(0);
      scenario().awaitQuiet();

      pair().failOver();

      await("the conflicts")
          .atMost(PATIENCE)
          .until(() -> database().conflicts() == 2 && database().outboxRows() == 0);
      awaitStored();
      assertSame(conflictOfKept, assertOneConflict("kept"));
      assertSame(conflictOfLost, assertOneConflict("lost"));
      assertCancelledAs(kept);
      assertCancelledAs(lost);
      service.awaitReady(true);
      assertNothingHeld();
    }
  }

  /** The closing and the payment are read again, in the opposite order. */
  @Test
  void aLostConflictOfAClosedOrderStaysTrue() {
    UnreadRecords closings = new UnreadRecords(scenario().topics().closed());
    try (Service service = scenario().startService(List.of(closings.interceptor()))) {
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      scenario().closeOrder("order", 0);
      scenario().awaitState("order", "CLOSED");
      scenario().pay("order", 0);
      PublishedEvent published = outcomes().awaitConflicts("order", 1).get(0);
      scenario().awaitQuiet();

      closings.block();
      pair().failOver();

      await("the payment again")
          .atMost(PATIENCE)
          .until(() -> !"PENDING".equals(database().state("order")));
      closings.unblock();
      awaitStored();
      assertSame(published, assertOneConflict("order"));
      assertThat(database().state("order")).isEqualTo("CLOSED");
      service.awaitReady(true);
      assertNothingHeld();
    }
  }

  @Test
  void aLostCancellationThatReachesKafkaAfterTheFailoverCounts() {
    SlowPublication publication = new SlowPublication(scenario().topics().cancelled());
    try (Service service = scenario().startService(List.of(publication.interceptor()))) {
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      Deadlines.passNow(database(), "order");
      publication.awaitBegin();

      pair().failOver();
      scenario().pay("order", 0);
      awaitStored();
      publication.release();

      PublishedEvent published = outcomes().awaitCancelled("order");
      assertOneConflict("order");
      scenario().awaitState("order", "CANCELLED");
      assertCancelledAs(published);
      service.awaitReady(true);
      assertNothingHeld();
    } finally {
      publication.release();
    }
  }

  /** The order is due in the new primary as well, so it could be cancelled a second time. */
  @Test
  void aLostCancellationOnItsWayToKafkaIsNotDecidedAnew() {
    SlowPublication publication = new SlowPublication(scenario().topics().cancelled());
    try (Service service = scenario().startService(List.of(publication.interceptor()))) {
      scenario().create("order", 0, Deadlines.afterCreation(scenario()));
      scenario().awaitState("order", "PENDING");
      pair().cutReplication();
      publication.awaitBegin();

      pair().failOver();
      try {
        await("a second decision")
            .atMost(PATIENCE_FOR_SECOND_DECISION)
            .until(() -> "CANCELLED".equals(database().state("order")));
      } catch (ConditionTimeoutException e) {
        // It waits for the publication of the first one.
      }
      publication.release();

      PublishedEvent published = outcomes().awaitCancelled("order");
      scenario().awaitState("order", "CANCELLED");
      scenario().passDeadline("another", 0);
      scenario().awaitQuiet();
      assertCancelledAs(published);
      service.awaitReady(true);
      assertNothingHeld();
    } finally {
      publication.release();
    }
  }

  /** Delays what the service publishes to a topic. */
  private static final class SlowPublication {

    private final String topic;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    SlowPublication(String topic) {
      this.topic = topic;
    }

    BeanPostProcessor interceptor() {
      return Interceptors.producers(
          call -> {
            if (call.getMethod().getName().equals("send")
                && call.getArguments()[0] instanceof ProducerRecord<?, ?> record
                && record.topic().equals(topic)) {
              begun.countDown();
              released.await();
            }
            return call.proceed();
          });
    }

    void awaitBegin() {
      await("the publication to begin").atMost(PATIENCE).until(() -> begun.getCount() == 0);
    }

    void release() {
      released.countDown();
    }
  }

  private void assertSame(PublishedEvent published, PublishedEvent first) {
    assertThat(outcomes().conflicts(published.key()))
        .allSatisfy(event -> assertThat(event.body()).isEqualTo(published.body()));
    assertThat(first.text("eventId")).isEqualTo(published.text("eventId"));
  }

  @Test
  void lostDecisionsThatKafkaHasDeletedHoldAllShards() {
    List<String> unpaid = ids("unpaid-", Scenario.PARTITIONS);
    try (Service service = scenario().startService()) {
      createPending(unpaid);
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      cancel("order");
      scenario().awaitQuiet();
      scenario().kafka().deleteRecords(cancellations());

      pair().crashPrimary();
      pair().promote();
      passDeadlines(unpaid);
      pair().connectClients();

      service.awaitHeldShards(Scenario.PARTITIONS);
      awaitStates(unpaid, "PENDING");
      assertThat(outcomes().cancelled()).extracting(PublishedEvent::key).containsOnly("order");
      pay(unpaid);
      awaitStates(unpaid, "PAID");
    }
  }

  @Test
  void deletionsOfWhatPostgresReflectsHoldNothing() {
    List<String> unpaid = ids("unpaid-", Scenario.PARTITIONS);
    try (Service service = scenario().startService()) {
      createPending(unpaid);
      createPending(List.of("order"));
      PublishedEvent published = cancel("order");
      scenario().awaitQuiet();
      awaitReflected();
      scenario().kafka().deleteRecords(cancellations());
      pair().cutReplication();
      pay(unpaid);
      awaitStates(unpaid, "PAID");

      pair().failOver();

      awaitStates(unpaid, "PAID");
      awaitStored();
      scenario().passDeadline("another", 0);
      assertCancelledAs(published);
      service.awaitReady(true);
      assertNothingHeld();
    }
  }

  /** Fails over to a standby that has the order, but not its published cancellation. */
  private PublishedEvent loseCancellation(String orderId) {
    createPending(List.of(orderId));
    scenario().awaitQuiet();
    pair().cutReplication();
    PublishedEvent published = cancel(orderId);
    pair().failOver();
    return published;
  }

  /** Cancels a pending order and returns the first publication of that. */
  private PublishedEvent cancel(String orderId) {
    Deadlines.passNow(database(), orderId);
    return outcomes().awaitCancelled(orderId);
  }

  /** Waits until Postgres reflects all that was published. */
  private void awaitReflected() {
    awaitPositions("published_position", scenario().kafka().ends(cancellations()));
  }

  /** The partitions of the published cancellations. */
  private List<TopicPartition> cancellations() {
    return Scenario.partitions(List.of(scenario().topics().cancelled()));
  }
}
