package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.UnreadRecords;
import io.ordertimeout.it.traffic.Deadlines;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
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
          .atMost(PATIENCE)
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

  /** The topic is unknown until the order is cancelled again, at another time. */
  @Test
  void aLostCancellationThatWasNotSentIsNeverPublished() {
    AtomicBoolean unknown = new AtomicBoolean(true);
    String topic = scenario().topics().cancelled();
    BeanPostProcessor hidden =
        Interceptors.beans(
            Admin.class,
            call -> {
              if (call.getMethod().getName().equals("describeTopics")
                  && call.getArguments()[0].equals(List.of(topic))
                  && unknown.get()) {
                call.getArguments()[0] = List.of(topic + ".hidden");
              }
              return call.proceed();
            });
    try (Service service = scenario().startService(List.of(hidden))) {
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      Deadlines.passNow(database(), "order");
      scenario().awaitState("order", "CANCELLED");
      String lost = database().column("order", "decided_at");

      pair().failOver();
      Deadlines.passNow(database(), "order");
      scenario().awaitState("order", "CANCELLED");
      assertThat(database().column("order", "decided_at")).isNotEqualTo(lost);
      unknown.set(false);

      PublishedEvent published = outcomes().awaitCancelled("order");
      scenario().awaitQuiet();
      assertCancelledAs(published);
      assertThat(outcomes().cancelled("order")).hasSize(1);
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

  /**
   * The closing and the payment are read again while the cancellation, which they had met, is not
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
      createPending(List.of("order", "unpaid"));
      scenario().awaitQuiet();
      pair().cutReplication();
      PublishedEvent published = cancel("order");
      scenario().closeOrder("order", 0);
      scenario().pay("order", 0);
      PublishedEvent conflict = outcomes().awaitConflicts("order", 1).get(0);
      awaitStored();
      cancellations.block();
      payments.block();

      pair().failOver();
      scenario().awaitState("order", "CLOSED");
      payments.unblock();
      await("the conflict again").atMost(PATIENCE).until(() -> database().conflicts() == 1);
      await("a sweep")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.outbox.unpublished") == 1);
      cancellations.unblock();

      scenario().awaitState("order", "CANCELLED");
      scenario().awaitQuiet();
      assertSame(conflict, assertOneConflict("order"));
      assertCancelledAs(published);
      service.awaitReady(true);
      assertNothingHeld();
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
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      Deadlines.passNow(database(), "order");
      scenario().awaitState("order", "CANCELLED");
      scenario().closeOrder("order", 0);
      scenario().pay("order", 0);
      PublishedEvent conflict = outcomes().awaitConflicts("order", 1).get(0);
      awaitStored();
      conflicts.block();
      payments.block();

      pair().crashPrimary();
      rejecting.set(false);
      pair().promote();
      pair().connectClients();
      scenario().awaitState("order", "CLOSED");
      payments.unblock();
      await("the conflict again").atMost(PATIENCE).until(() -> database().conflicts() == 1);
      conflicts.unblock();

      PublishedEvent cancelled = outcomes().awaitCancelled("order");
      assertThat(cancelled.text("cancelledAt")).isEqualTo(conflict.text("cancelledAt"));
      scenario().awaitQuiet();
      assertSame(conflict, assertOneConflict("order"));
      assertCancelledAs(cancelled);
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
      createPending(List.of("another"));
      scenario().awaitQuiet();
      pair().cutReplication();
      createPending(List.of("order"));
      PublishedEvent published = cancel("order");
      scenario().pay("order", 0);
      PublishedEvent conflict = outcomes().awaitConflicts("order", 1).get(0);
      awaitStored();
      cancellations.block();
      creations.block();

      pair().failOver();
      scenario().awaitState("order", "CANCELLED");
      cancellations.unblock();
      awaitReflected();
      await("a sweep")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.outbox.unpublished") == 1);
      creations.unblock();

      scenario().awaitQuiet();
      assertCancelledAs(published);
      assertThat(outcomes().cancelled("order"))
          .allSatisfy(event -> assertThat(event.body()).isEqualTo(published.body()));
      assertSame(conflict, assertOneConflict("order"));
      service.awaitReady(true);
      assertNothingHeld();
    }
  }

  /** Its sending fails once the new primary answers, in which the order is due as well. */
  @Test
  void aLostCancellationThatKafkaDidNotAcceptIsNeverPublished() {
    SlowPublication publication = new SlowPublication(scenario().topics().cancelled());
    publication.fail();
    try (Service service = scenario().startService(List.of(publication.interceptor()))) {
      scenario().create("order", 0, Deadlines.afterCreation(scenario()));
      scenario().awaitState("order", "PENDING");
      pair().cutReplication();
      publication.awaitBegin();

      pair().failOver();
      // The intake tells the service of the new primary.
      scenario().create("another", 1, Scenario.in(Duration.ofHours(1)));
      scenario().awaitState("another", "PENDING");
      publication.release();

      scenario().awaitState("order", "CANCELLED");
      PublishedEvent published = outcomes().awaitCancelled("order");
      scenario().awaitQuiet();
      assertCancelledAs(published);
      assertThat(outcomes().cancelled("order")).hasSize(1);
      service.awaitReady(true);
      assertNothingHeld();
    } finally {
      publication.release();
    }
  }

  /** It is committed, but the service learns so only after the order was decided again. */
  @Test
  void aLostCancellationOfWhichTheServiceLearnsTooLateIsNeverPublished() {
    SlowDecision decision = new SlowDecision();
    try (Service service = scenario().startService(List.of(decision.interceptor()))) {
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      decision.delayNext();
      Deadlines.passNow(database(), "order");
      decision.awaitCommit();

      pair().failOver();
      Deadlines.passNow(database(), "order");
      PublishedEvent published = outcomes().awaitCancelled("order");
      decision.release();

      scenario().passDeadline("another", 0);
      scenario().awaitQuiet();
      assertCancelledAs(published);
      assertThat(outcomes().cancelled("order")).hasSize(1);
      service.awaitReady(true);
      assertNothingHeld();
    } finally {
      decision.release();
    }
  }

  /** Kafka had rejected the cancellation, but not the conflict, when the failover lost both. */
  @Test
  void aLostCancellationOfWhichOnlyAConflictTellsIsPublishedAsTheConflictSays() {
    AtomicBoolean rejecting = new AtomicBoolean(true);
    AtomicInteger rejections = new AtomicInteger();
    BeanPostProcessor rejection = rejectionOfCancellations(rejecting, rejections);
    try (Service service = scenario().startService(List.of(rejection))) {
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      Deadlines.passNow(database(), "order");
      scenario().awaitState("order", "CANCELLED");
      scenario().pay("order", 0);
      PublishedEvent conflict = outcomes().awaitConflicts("order", 1).get(0);
      await("the rejection").atMost(PATIENCE).until(() -> rejections.get() > 0);

      pair().crashPrimary();
      rejecting.set(false);
      pair().promote();
      pair().connectClients();

      PublishedEvent cancelled = outcomes().awaitCancelled("order");
      assertThat(cancelled.text("cancelledAt")).isEqualTo(conflict.text("cancelledAt"));
      assertThat(cancelled.text("deadline")).isEqualTo(conflict.text("deadline"));
      awaitStored();
      scenario().awaitQuiet();
      assertCancelledAs(cancelled);
      assertOneConflict("order");
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

  private BeanPostProcessor rejectionOfCancellations(
      AtomicBoolean rejecting, AtomicInteger rejections) {
    return Interceptors.producers(
        call -> {
          if (rejecting.get() && isSentTo(scenario().topics().cancelled(), call)) {
            rejections.incrementAndGet();
            throw new RecordTooLargeException("not now");
          }
          return call.proceed();
        });
  }

  private static boolean isSentTo(String topic, MethodInvocation call) {
    return call.getMethod().getName().equals("send")
        && call.getArguments()[0] instanceof ProducerRecord<?, ?> record
        && record.topic().equals(topic);
  }

  /** Delays the result of a decision that is committed. */
  private static final class SlowDecision {

    private final AtomicBoolean delaying = new AtomicBoolean();
    private final CountDownLatch committed = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    BeanPostProcessor interceptor() {
      return Interceptors.made(
          DataSource.class,
          Connection.class,
          call -> {
            Object made = call.proceed();
            return made instanceof PreparedStatement statement
                    && ((String) call.getArguments()[0]).contains("'ORDER_CANCELLED'")
                ? Interceptors.around(PreparedStatement.class, statement, this::onStatement)
                : made;
          });
    }

    private @Nullable Object onStatement(MethodInvocation call) throws Throwable {
      Object result = call.proceed();
      if (call.getMethod().getName().startsWith("execute") && delaying.getAndSet(false)) {
        committed.countDown();
        released.await();
      }
      return result;
    }

    void delayNext() {
      delaying.set(true);
    }

    void awaitCommit() {
      await("a decision").atMost(PATIENCE).until(() -> committed.getCount() == 0);
    }

    void release() {
      released.countDown();
    }
  }

  /** Delays what the service publishes to a topic. */
  private static final class SlowPublication {

    private final String topic;
    private final AtomicBoolean failing = new AtomicBoolean();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    SlowPublication(String topic) {
      this.topic = topic;
    }

    BeanPostProcessor interceptor() {
      return Interceptors.producers(
          call -> {
            if (isSentTo(topic, call)) {
              begun.countDown();
              released.await();
              if (failing.getAndSet(false)) {
                throw new TimeoutException("not now");
              }
            }
            return call.proceed();
          });
    }

    /** Has the first publication fail after its delay. */
    void fail() {
      failing.set(true);
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
