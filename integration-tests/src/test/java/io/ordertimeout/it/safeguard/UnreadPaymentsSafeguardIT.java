package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.race.Race;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.UnreadRecords;
import io.ordertimeout.it.traffic.Deadlines;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Payments and closures that arrived in time, but are not yet read when their orders are due. */
@Tag("faults")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class UnreadPaymentsSafeguardIT {

  private static final int ORDERS = 10;
  private static final int ORDERS_OF_RACE = 1_000;

  // Orders that wait for a payment would hold back those of their shard that wait for a closure.
  private static final int PAID_PARTITION = 0;
  private static final int CLOSED_PARTITION = 1;

  private final Scenario scenario = Scenario.create();
  private final UnreadRecords payments = new UnreadRecords(scenario.topics().paid());
  private final UnreadRecords closures = new UnreadRecords(scenario.topics().closed());
  private final ServiceClock clock = new ServiceClock(scenario);
  private final WatermarkQuestion question = new WatermarkQuestion(scenario, this::safeguards);
  private final SabotagedService sabotaged = SabotagedService.start(scenario, interceptors());

  private List<BeanPostProcessor> interceptors() {
    List<BeanPostProcessor> interceptors = new ArrayList<>();
    interceptors.add(payments.interceptor());
    interceptors.add(closures.interceptor());
    interceptors.add(clock.interceptor());
    interceptors.addAll(question.interceptors());
    return interceptors;
  }

  private SafeguardRemover safeguards() {
    return sabotaged.safeguards();
  }

  @AfterEach
  void restore() {
    question.betweenSteps().open();
    question.readTimeExactly(false);
    payments.unblock();
    closures.unblock();
    clock.setAhead(sabotaged, Duration.ZERO);
    sabotaged.safeguards().restoreAll();
  }

  @AfterAll
  void close() {
    sabotaged.close();
  }

  @Test
  void withAllSafeguardsThePaidOrdersArePaidAndTheClosedOnesClosed() {
    assertSettled(run("all-"));
  }

  @Test
  void withoutTheWatermarkGatePaidAndClosedOrdersAreCancelled() {
    Verdict verdict = run("gate-", Safeguard.WATERMARK_GATE);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.PAID_YET_CANCELLED, ORDERS, Kind.CLOSED_YET_CANCELLED, ORDERS));
  }

  @Test
  void withoutTheClosingsInTheEndsClosedOrdersAreCancelled() {
    Verdict verdict = run("closures-", Safeguard.CLOSINGS_IN_ENDS);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.CLOSED_YET_CANCELLED, ORDERS));
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
  }

  @Test
  void withoutTheStateCheckInTheDecisionOrdersSettledMeanwhileAreCancelled() {
    Verdict verdict = run("state-", Safeguard.STATE_CHECK_IN_DECISION);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(
            Map.of(
                Kind.PAID_YET_CANCELLED,
                ORDERS,
                Kind.CLOSED_YET_CANCELLED,
                ORDERS,
                // The row was PAID or CLOSED, then CANCELLED.
                Kind.DECIDED_TWICE,
                2 * ORDERS,
                // The payment found its order pending, so it raised no conflict.
                Kind.CONFLICT_MISSING,
                ORDERS));
  }

  /** The second check is redundant: the gate before the statement keeps the promise alone. */
  @Test
  void withoutTheWatermarkInTheDecisionTheyAreSettled() {
    assertSettled(run("watermark-", Safeguard.WATERMARK_IN_DECISION));
  }

  private static void assertSettled(Verdict verdict) {
    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
    assertThat(verdict.inState("CLOSED")).isEqualTo(ORDERS);
  }

  private Verdict run(String prefix, Safeguard... removed) {
    String paid = prefix + "paid-";
    String closed = prefix + "closed-";
    sabotaged.safeguards().remove(removed);
    payments.block();
    closures.block();
    // Settled before the deadline is chosen, so in time on a machine of any speed.
    sabotaged.pay(paid, PAID_PARTITION, ORDERS);
    sabotaged.closeOrders(closed, CLOSED_PARTITION, ORDERS);
    Instant deadline = Scenario.in(Duration.ofSeconds(1));
    sabotaged.create(paid, PAID_PARTITION, ORDERS, deadline);
    sabotaged.create(closed, CLOSED_PARTITION, ORDERS, deadline);
    await("registration")
        .until(
            () ->
                sabotaged.count(prefix, "PENDING") + sabotaged.count(prefix, "CANCELLED")
                    == 2 * ORDERS);
    // An order that was registered after its deadline comes to the gate a moment later.
    double moment = scenario.database().now().isAfter(deadline) ? 5 : 0.5;
    double lagOfPaid = lag(PAID_PARTITION) + moment;
    double lagOfClosed = lag(CLOSED_PARTITION) + moment;
    Set<Safeguard> missing = Set.of(removed);
    if (missing.contains(Safeguard.WATERMARK_GATE)) {
      sabotaged.awaitStates(paid, "CANCELLED", ORDERS);
    } else {
      awaitLag(PAID_PARTITION, lagOfPaid);
    }
    if (missing.contains(Safeguard.WATERMARK_GATE)
        || missing.contains(Safeguard.CLOSINGS_IN_ENDS)) {
      sabotaged.awaitStates(closed, "CANCELLED", ORDERS);
    } else {
      awaitLag(CLOSED_PARTITION, lagOfClosed);
    }
    payments.unblock();
    closures.unblock();
    return sabotaged.judge(prefix);
  }

  /** Waits until orders that are due wait for their shard's watermark. */
  private void awaitLag(int shard, double longer) {
    await("a lag of the watermark").until(() -> lag(shard) > longer);
  }

  private double lag(int shard) {
    return sabotaged.service().gauge("order.timeout.watermark.lag", "shard", String.valueOf(shard));
  }

  @Test
  void withTheTimeReadBeforeTheEndsAnOrderPaidMeanwhileIsPaid() {
    payBetweenSteps("time-");

    Verdict verdict = judgeOnceRead("time-");
    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(1);
  }

  @Test
  void withTheTimeReadAfterTheEndsAnOrderPaidMeanwhileIsCancelled() {
    payBetweenSteps("ends-", Safeguard.TIME_BEFORE_ENDS);
    sabotaged.awaitStates("ends-", "CANCELLED", 1);

    Verdict verdict = judgeOnceRead("ends-");
    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.PAID_YET_CANCELLED, 1));
  }

  /**
   * Pays an order in time, but after the first step of the question whether it may be decided; its
   * deadline passes before the second one. The service asks that early because its clock is ahead.
   */
  private void payBetweenSteps(String prefix, Safeguard... removed) {
    clock.setAhead(sabotaged, Duration.ofMinutes(30));
    question.readTimeExactly(true);
    payments.block();
    sabotaged.safeguards().remove(removed);
    Instant deadline = Deadlines.afterCreation(scenario);
    question.betweenSteps().close();
    sabotaged.create(prefix, 1, deadline);
    await("the first step").until(question.betweenSteps()::isReached);
    sabotaged.pay(prefix, 1);
    scenario.awaitPast(deadline);
    question.betweenSteps().open();
  }

  private Verdict judgeOnceRead(String prefix) {
    payments.unblock();
    return sabotaged.judge(prefix);
  }

  /** The last test, because every verdict contains what Kafka lost. */
  @Test
  @Order(Integer.MAX_VALUE)
  void acknowledgedPaymentsThatKafkaDoesNotKeepAreReported() {
    sabotaged.create("dropped-", 1, Scenario.in(Duration.ofHours(1)));
    try (Shop shop = scenario.transactionalShop()) {
      shop.transactions().beginTransaction();
      RecordMetadata payment = shop.paid("dropped-0", "p");
      shop.transactions().abortTransaction();
      sabotaged.oracle().acknowledgements().commit(payment);
    }

    Verdict verdict = sabotaged.judge("dropped-");

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.LOST_BY_KAFKA, 1));
  }

  /** The traffic of {@link Race} breaks no promise while all safeguards are in place. */
  @Test
  void withoutTheWatermarkGatePaymentsLoseTheRaceAgainstExpiry() {
    sabotaged.safeguards().remove(Safeguard.WATERMARK_GATE);
    payments.block();
    Race.run(scenario, sabotaged.oracle().acknowledgements(), ORDERS_OF_RACE);
    sabotaged.awaitStates("order-", "CANCELLED", ORDERS_OF_RACE);
    payments.unblock();

    Verdict verdict = sabotaged.judge("order-");

    // A slow machine may also cancel late.
    Map<Kind, Integer> violations = new EnumMap<>(verdict.violationCounts());
    violations.remove(Kind.LATE);
    assertThat(violations).as("%s", verdict).containsOnlyKeys(Kind.PAID_YET_CANCELLED);
  }
}
