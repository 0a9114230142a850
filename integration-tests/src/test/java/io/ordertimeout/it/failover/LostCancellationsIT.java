package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.UnreadRecords;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Cancellations that were published before a failover lost them stay true. */
@Tag("faults")
@Order(20)
class LostCancellationsIT extends FailoverFixture {

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
          .until(
              () ->
                  service.ownedShards() == Scenario.PARTITIONS
                      && service.gauge("order.timeout.pending") == 0);
      assertThat(service.counter("order.timeout.repaired", "kind", "extra")).isZero();
      assertCancelledAs(published);
    }
  }

  @Test
  void anOperatorCannotChangeAnOrderWhoseLostCancellationIsStillToBeRestored() {
    UnreadRecords cancellations = new UnreadRecords(scenario().topics().cancelled());
    try (Service service = scenario().startService(List.of(cancellations.interceptor()))) {
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      cancellations.block();
      PublishedEvent published = cancel("order");

      pair().failOver();
      Http operator = service.http().operator();
      Map<String, String> change = Map.of("orderId", "order", "reason", "a test");
      await("the answer")
          .untilAsserted(
              () ->
                  assertThat(operator.postOnce("/api/v1/order/close", change).response().body())
                      .contains("has not been read back yet"));
      assertThat(operator.postOnce("/api/v1/order/close", change).status()).isEqualTo(503);
      assertThat(database().state("order")).isEqualTo("PENDING");
      cancellations.unblock();

      scenario().awaitState("order", "CANCELLED");
      assertCancelledAs(published);
      assertThat(operator.postOnce("/api/v1/order/close", change).status()).isEqualTo(409);
      service.awaitReady(true);
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

  /**
   * A deadline may be before the purge horizon although the order was never purged, if an operator
   * has moved it. Only once everything is read back has an order that is missing been purged.
   */
  @Test
  void aLostCancellationFromBeforeThePurgeHorizonIsRestored() {
    try (Service service = scenario().startService()) {
      createPending(List.of("another"));
      scenario().awaitQuiet();
      database()
          .execute("update purge_horizon set orders_before = clock_timestamp() + interval '1 h'");
      pair().cutReplication();
      scenario().create("order", 0, Scenario.in(Duration.ZERO));
      PublishedEvent published = outcomes().awaitCancelled("order");
      scenario().awaitQuiet();

      pair().failOver();

      awaitStored();
      scenario().awaitState("order", "CANCELLED");
      scenario().passDeadline("unpaid", 0);
      scenario().awaitQuiet();
      assertCancelledAs(published);
      service.awaitReady(true);
      assertNothingHeld();
    }
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
}
