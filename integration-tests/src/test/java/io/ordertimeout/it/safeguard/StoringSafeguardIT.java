package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.DeadLetterJudge;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.UnreadRecords;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Events that find their order decided or purged, or that Postgres rejects: cancelled orders that
 * are created again, paid, and paid again; paid orders that are paid a second time, or created
 * again after a purge; and a batch with an unacceptable order.
 */
@Tag("faults")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Order(60)
class StoringSafeguardIT {

  private static final int ORDERS = 10;

  /** Fewer than the rejections of a batch that count as a failure of Postgres. */
  private static final int OTHERS = 5;

  /** How far the service's clock is ahead while it purges orders that were decided now. */
  private static final Duration AHEAD = Duration.ofHours(4);

  private final Scenario scenario = Scenario.create();
  private final ServiceClock clock = new ServiceClock(scenario);
  private final UnreadRecords creations = new UnreadRecords(scenario.topics().created());
  private final SabotagedService sabotaged =
      SabotagedService.start(
          scenario,
          List.of(creations.interceptor(), clock.interceptor()),
          "order-timeout.deadline.retention",
          "3h",
          "order-timeout.deadline.stale-after",
          "1h",
          "order-timeout.deadline.purge-interval",
          "1s");

  @AfterEach
  void restore() {
    creations.unblock();
    clock.setAhead(sabotaged, Duration.ZERO);
    sabotaged.safeguards().restoreAll();
  }

  @AfterAll
  void close() {
    sabotaged.close();
  }

  @Test
  void withAllSafeguardsTheyStayCancelledWithOneConflictEach() {
    Verdict verdict = run("all-");

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
    assertThat(verdict.conflicts()).isEqualTo(ORDERS);
    assertThat(verdict.repeated()).isZero();
  }

  @Test
  void withoutTheStateCheckInSettlingCancelledOrdersBecomePaid() {
    // The read-back would restore the cancellations that it comes to after they were overwritten.
    Verdict verdict = run("settling-", Safeguard.STATE_CHECK_IN_SETTLING, Safeguard.READ_BACK);
    sabotaged.safeguards().awaitEffect(Safeguard.READ_BACK);

    // Reported for the change of the row, and for the publication that the row contradicts. The
    // repeated payment changes the row once more.
    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.DECIDED_TWICE, 2 * ORDERS, Kind.ROW_CHANGED, ORDERS));
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
  }

  @Test
  void withoutTheCreationCheckInRegistrationDeadlinesMove() {
    Verdict verdict = run("registration-", Safeguard.CREATION_CHECK_IN_REGISTRATION);

    // Reported for the change of the row, and for the row and conflict that result from it.
    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .containsEntry(Kind.ROW_CHANGED, ORDERS)
        .containsKey(Kind.WRONG_FIELDS)
        .hasSize(2);
  }

  /** Consumers can still recognize the repetition by the event id. */
  @Test
  void withoutConflictDeduplicationAConflictIsRepeatedUnderTheSameId() {
    Verdict verdict = run("conflict-", Safeguard.CONFLICT_DEDUPLICATION);

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.repeated()).isEqualTo(ORDERS);
  }

  @Test
  void withoutConflictDeduplicationAndStableIdsThereAreTwoConflicts() {
    Verdict verdict = run("ids-", Safeguard.CONFLICT_DEDUPLICATION, Safeguard.STABLE_EVENT_IDS);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.CONFLICT_TWICE, ORDERS));
  }

  private Verdict run(String prefix, Safeguard... removed) {
    sabotaged.safeguards().remove(removed);
    Instant deadline = Scenario.in(Duration.ofSeconds(1));
    sabotaged.create(prefix, ORDERS, deadline);
    await("cancellations").until(() -> sabotaged.count(prefix, "CANCELLED") == ORDERS);
    sabotaged.create(prefix, ORDERS, deadline.plus(Duration.ofHours(1)));
    sabotaged.pay(prefix, ORDERS);
    // Now the conflicts are published.
    scenario.awaitQuiet();
    sabotaged.pay(prefix, ORDERS);
    return sabotaged.judge(prefix);
  }

  @Test
  void withAllSafeguardsASecondPaymentRaisesNoConflict() {
    Verdict verdict = payTwice("second-");

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
    assertThat(verdict.conflicts()).isZero();
  }

  @Test
  void withoutTheStateCheckInConflictsASecondPaymentRaisesOne() {
    Verdict verdict = payTwice("paid-", Safeguard.STATE_CHECK_IN_CONFLICTS);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.UNEXPECTED_CONFLICT, ORDERS));
  }

  private Verdict payTwice(String prefix, Safeguard... removed) {
    sabotaged.safeguards().remove(removed);
    sabotaged.create(prefix, ORDERS, Scenario.in(Duration.ofHours(1)));
    sabotaged.pay(prefix, ORDERS);
    // A second payment in the batch of the first one is not compared with the row.
    sabotaged.awaitStates(prefix, "PAID", ORDERS);
    for (int i = 0; i < ORDERS; i++) {
      scenario.shop().paid(prefix + i, "second payment");
    }
    return sabotaged.judge(prefix);
  }

  @Test
  void withoutTheStalenessInRegistrationNewOrdersAreClosed() {
    sabotaged.safeguards().remove(Safeguard.STALENESS_IN_REGISTRATION);
    sabotaged.create("stale-", ORDERS, Scenario.in(Duration.ofHours(1)));

    Verdict verdict = sabotaged.judge("stale-");

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.UNEXPLAINED_STATE, ORDERS));
    assertThat(verdict.inState("CLOSED")).isEqualTo(ORDERS);
  }

  @Test
  void withAllSafeguardsPurgedOrdersStayDecided() {
    purgeAndCreateAgain("kept-");

    Verdict verdict = sabotaged.judge("kept-later-");
    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
    // They were closed as stale, and may be purged again.
    assertThat(sabotaged.count("kept-sooner-", "PENDING")).isZero();
  }

  @Test
  void withoutTheDeadlineInThePurgeAndItsHorizonPurgedOrdersBecomePending() {
    purgeAndCreateAgain("purged-", Safeguard.DEADLINE_IN_PURGE, Safeguard.HORIZON_OF_PURGE);

    for (String prefix : List.of("purged-later-", "purged-sooner-")) {
      Verdict verdict = sabotaged.judge(prefix);
      assertThat(verdict.violationCounts()).as("%s", verdict).containsEntry(Kind.LOST, ORDERS);
      assertThat(verdict.inState("PENDING")).isEqualTo(ORDERS);
    }
  }

  /**
   * Creates paid orders again after a purge. Those whose deadlines are later than the horizon of
   * the purge must not be purged; those with sooner deadlines must not be registered again.
   */
  private void purgeAndCreateAgain(String prefix, Safeguard... removed) {
    Instant sooner = Scenario.in(Duration.ofMinutes(30));
    Instant later = Scenario.in(Duration.ofHours(12));
    sabotaged.create(prefix + "later-", ORDERS, later);
    sabotaged.create(prefix + "sooner-", ORDERS, sooner);
    for (String kind : List.of("later-", "sooner-")) {
      sabotaged.pay(prefix + kind, ORDERS);
      // A payment that is stored after the purge of its order would be one of an unknown order.
      sabotaged.awaitStates(prefix + kind, "PAID", ORDERS);
    }
    sabotaged.safeguards().remove(removed);
    clock.setAhead(sabotaged, AHEAD);
    await("the purge").until(() -> rows(prefix + "sooner-") == 0);
    sabotaged.create(prefix + "later-", ORDERS, later);
    sabotaged.create(prefix + "sooner-", ORDERS, sooner);
    Map<TopicPartition, Long> again = scenario.inputEnds();
    await("the orders again").until(() -> scenario.committed(again));
  }

  private long rows(String prefix) {
    return scenario
        .database()
        .count("select count(*) from order_deadline where starts_with(order_id, ?)", prefix);
  }

  @Test
  void withAllSafeguardsOrdersInDoubtStayPending() {
    Verdict verdict = putInDoubt("parked-");

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PENDING")).isEqualTo(OTHERS);
  }

  @Test
  void withoutParkingOrdersInDoubtAreCancelled() {
    Verdict verdict = putInDoubt("doubt-", Safeguard.PARKING);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.IN_DOUBT_YET_CANCELLED, OTHERS));
  }

  /** Judges orders, one second after their deadlines, whose payments cannot be decoded. */
  private Verdict putInDoubt(String prefix, Safeguard... removed) {
    sabotaged.safeguards().remove(removed);
    for (int i = 0; i < OTHERS; i++) {
      sendUnusable(scenario.topics().paid(), prefix + i, Shop.utf8("no JSON"));
    }
    Instant deadline = Scenario.in(Duration.ofSeconds(1));
    sabotaged.create(prefix, OTHERS, deadline);
    scenario.awaitPast(deadline.plusSeconds(1));
    return sabotaged.judge(prefix);
  }

  private void sendUnusable(String topic, String orderId, byte[] value) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, 0, Shop.utf8(orderId), value);
    record.headers().add(DeadLetterJudge.GARBAGE_HEADER, Shop.utf8("yes"));
    Shop.await(scenario.shop().send(record));
  }

  @Test
  void withAllSafeguardsARejectedOrderIsDeadLetteredAlone() {
    Verdict verdict = storeAmongRejected("isolated-");

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PENDING")).isEqualTo(OTHERS);
  }

  /** The last test, because every verdict contains all dead letters. */
  @Test
  @Order(Integer.MAX_VALUE)
  void withoutTheIsolationOfRejectedRowsTheOthersAreDeadLettered() {
    Verdict verdict = storeAmongRejected("others-", Safeguard.ISOLATION_OF_REJECTED_ROWS);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .containsOnlyKeys(Kind.UNEXPECTED_DEAD_LETTER, Kind.LOST);
  }

  /** Stores orders with another one that Postgres rejects; most of them in the same batch. */
  private Verdict storeAmongRejected(String prefix, Safeguard... removed) {
    sabotaged.safeguards().remove(removed);
    String rejected = "rejected-" + prefix;
    scenario
        .database()
        .execute(
            "alter table order_deadline add check (order_id <> '%s') not valid"
                .formatted(rejected));
    creations.block();
    sabotaged.create(prefix, OTHERS, Scenario.in(Duration.ofHours(1)));
    sendUnusable(
        scenario.topics().created(),
        rejected,
        Shop.json(Map.of("orderId", rejected, "timeout", "PT1H")));
    creations.unblock();
    return sabotaged.judge(prefix);
  }
}
