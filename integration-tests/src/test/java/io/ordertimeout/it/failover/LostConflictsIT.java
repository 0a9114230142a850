package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.UnreadRecords;
import io.ordertimeout.it.traffic.Deadlines;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Conflicts that were published before a failover lost them stay true, and so does the decision of
 * which each tells.
 */
@Tag("faults")
@Order(20)
class LostConflictsIT extends FailoverFixture {

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
          .until(() -> database().conflicts() == 2 && database().unpublished() == 0);
      awaitStored();
      assertOnlyConflict(conflictOfKept);
      assertOnlyConflict(conflictOfLost);
      assertCancelledAs(kept);
      assertCancelledAs(lost);
      service.awaitReady(true);
      assertNothingHeld();
    }
  }

  /** The closure and the payment are read again, in the opposite order. */
  @Test
  void aLostConflictOfAClosedOrderStaysTrue() {
    UnreadRecords closures = new UnreadRecords(scenario().topics().closed());
    try (Service service = scenario().startService(List.of(closures.interceptor()))) {
      createAsTheLastReplicated("order");
      scenario().closeOrder("order", 0);
      scenario().awaitState("order", "CLOSED");
      PublishedEvent published = payTooLate("order");

      closures.block();
      pair().failOver();

      await("the payment again").until(() -> !"PENDING".equals(database().state("order")));
      closures.unblock();
      awaitStored();
      assertStillTrue(service, published);
      assertThat(database().state("order")).isEqualTo("CLOSED");
    }
  }

  /**
   * The closure and the payment are read again while the cancellation, which they had met, is not
   * read back yet.
   */
  @Test
  void aConflictThatIsRaisedAgainTellsOfTheLostCancellation() {
    UnreadRecords cancellations = new UnreadRecords(scenario().topics().cancelled());
    UnreadRecords payments = new UnreadRecords(scenario().topics().paid());
    try (Service service =
        scenario()
            .startService(
                List.of(cancellations.interceptor(), payments.interceptor()),
                "order-timeout.outbox.sweep-interval",
                "1s")) {
      createAsTheLastReplicated("order");
      PublishedEvent published = cancel("order");
      scenario().closeOrder("order", 0);
      PublishedEvent conflict = payTooLate("order");
      cancellations.block();
      payments.block();

      pair().failOver();
      scenario().awaitState("order", "CLOSED");
      payments.unblock();
      await("the conflict again").until(() -> database().conflicts() == 1);
      await("a sweep").until(() -> service.gauge("order.timeout.outbox.unpublished") == 1);
      cancellations.unblock();

      scenario().awaitState("order", "CANCELLED");
      assertStillTrue(service, conflict);
      assertCancelledAs(published);
    }
  }

  /** As before, but Kafka had rejected the cancellation: only the conflict tells of it. */
  @Test
  void aConflictThatIsRaisedAgainTellsOfTheLostCancellationThatWasNeverPublished() {
    UnreadRecords conflicts = new UnreadRecords(scenario().topics().conflict());
    UnreadRecords payments = new UnreadRecords(scenario().topics().paid());
    AtomicBoolean rejecting = new AtomicBoolean(true);
    BeanPostProcessor rejection = rejectionOfCancellations(rejecting, new AtomicInteger());
    try (Service service =
        scenario()
            .startService(List.of(rejection, conflicts.interceptor(), payments.interceptor()))) {
      createAsTheLastReplicated("order");
      Deadlines.passNow(database(), "order");
      scenario().awaitState("order", "CANCELLED");
      scenario().closeOrder("order", 0);
      PublishedEvent conflict = payTooLate("order");
      conflicts.block();
      payments.block();

      failOverAfter(() -> rejecting.set(false));
      scenario().awaitState("order", "CLOSED");
      payments.unblock();
      await("the conflict again").until(() -> database().conflicts() == 1);
      conflicts.unblock();

      PublishedEvent cancelled = outcomes().awaitCancelled("order");
      assertThat(cancelled.text("cancelledAt")).isEqualTo(conflict.text("cancelledAt"));
      assertStillTrue(service, conflict);
      assertCancelledAs(cancelled);
    }
  }

  /**
   * Only the conflict is read back at first, so the cancellation is announced again, of an order
   * whose creation is not read yet.
   */
  @Test
  void aCancellationThatAConflictAnnouncesAgainSaysTheSame() {
    UnreadRecords cancellations = new UnreadRecords(scenario().topics().cancelled());
    UnreadRecords creations = new UnreadRecords(scenario().topics().created());
    try (Service service =
        scenario()
            .startService(
                List.of(cancellations.interceptor(), creations.interceptor()),
                "order-timeout.outbox.sweep-interval",
                "1s")) {
      createAsTheLastReplicated("another");
      createPending(List.of("order"));
      PublishedEvent published = cancel("order");
      PublishedEvent conflict = payTooLate("order");
      cancellations.block();
      creations.block();

      pair().failOver();
      scenario().awaitState("order", "CANCELLED");
      cancellations.unblock();
      awaitReflected();
      await("a sweep").until(() -> service.gauge("order.timeout.outbox.unpublished") == 1);
      creations.unblock();

      assertStillTrue(service, conflict);
      assertCancelledAs(published);
      assertThat(outcomes().cancelled("order"))
          .allSatisfy(event -> assertThat(event.body()).isEqualTo(published.body()));
    }
  }

  /** Kafka had rejected the cancellation, but not the conflict, when the failover lost both. */
  @Test
  void aLostCancellationOfWhichOnlyAConflictTellsIsPublishedAsTheConflictSays() {
    AtomicBoolean rejecting = new AtomicBoolean(true);
    AtomicInteger rejections = new AtomicInteger();
    BeanPostProcessor rejection = rejectionOfCancellations(rejecting, rejections);
    try (Service service = scenario().startService(List.of(rejection))) {
      createAsTheLastReplicated("order");
      Deadlines.passNow(database(), "order");
      scenario().awaitState("order", "CANCELLED");
      scenario().pay("order", 0);
      PublishedEvent conflict = outcomes().awaitConflicts("order", 1).get(0);
      await("the rejection").until(() -> rejections.get() > 0);

      failOverAfter(() -> rejecting.set(false));

      PublishedEvent cancelled = outcomes().awaitCancelled("order");
      assertThat(cancelled.text("cancelledAt")).isEqualTo(conflict.text("cancelledAt"));
      assertThat(cancelled.text("deadline")).isEqualTo(conflict.text("deadline"));
      awaitStored();
      assertStillTrue(service, conflict);
      assertCancelledAs(cancelled);
      assertThat(database().count("select count(*) from outbox where due_at is not null"))
          .as("cancellations of which it is claimed to be known how late they were")
          .isZero();
    }
  }

  private BeanPostProcessor rejectionOfCancellations(
      AtomicBoolean rejecting, AtomicInteger rejections) {
    return Interceptors.sends(
        scenario().topics().cancelled(),
        call -> {
          if (rejecting.get()) {
            rejections.incrementAndGet();
            throw new RecordTooLargeException("not now");
          }
          return call.proceed();
        });
  }

  /** Creates a pending order that the standby has as well, the last that it gets. */
  private void createAsTheLastReplicated(String orderId) {
    createPending(List.of(orderId));
    scenario().awaitQuiet();
    pair().cutReplication();
  }

  /** Pays a decided order and returns the conflict that is published of it, once all is stored. */
  private PublishedEvent payTooLate(String orderId) {
    scenario().pay(orderId, 0);
    PublishedEvent conflict = outcomes().awaitConflicts(orderId, 1).get(0);
    awaitStored();
    return conflict;
  }

  /** Fails over; the change is made while no primary answers. */
  private void failOverAfter(Runnable change) {
    pair().crashPrimary();
    change.run();
    pair().promote();
    pair().connectClients();
  }

  /** Checks that nothing but what was published once is published, and that all shards go on. */
  private void assertStillTrue(Service service, PublishedEvent conflict) {
    assertOnlyConflict(conflict);
    service.awaitReady(true);
    assertNothingHeld();
  }

  private void assertOnlyConflict(PublishedEvent conflict) {
    assertOneConflict(conflict.key());
    assertThat(outcomes().conflicts(conflict.key()))
        .allSatisfy(event -> assertThat(event.body()).isEqualTo(conflict.body()));
  }
}
