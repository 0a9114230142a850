package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.UnreadRecords;
import io.ordertimeout.it.traffic.Deadlines;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * A service whose clock is an hour ahead of Postgres, so that wheel and gate let orders pass early.
 * Half of the orders are paid after they were due by that clock and before their deadlines.
 */
@Tag("faults")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FastClockSafeguardIT {

  private static final int ORDERS = 5;

  private static final Duration HOUR = Duration.ofHours(1);

  private final AtomicInteger decisions = new AtomicInteger();
  private final Scenario scenario = Scenario.create();
  private final ServiceClock clock = new ServiceClock(scenario);
  private final UnreadRecords payments = new UnreadRecords(scenario.topics().paid());
  private final Barrier beforeDecision = new Barrier();
  private final SabotagedService sabotaged =
      SabotagedService.start(
          scenario,
          List.of(
              clock.interceptor(),
              payments.interceptor(),
              countedDecisions(),
              beforeDecision.ofConnections("expiry-")));

  private BeanPostProcessor countedDecisions() {
    return StatementInterceptor.counting(SafeguardRemover.DECISION, decisions);
  }

  @AfterEach
  void restore() {
    beforeDecision.open();
    payments.unblock();
    sabotaged.safeguards().restoreAll();
  }

  @AfterAll
  void close() {
    sabotaged.close();
  }

  @Test
  void withAllSafeguardsNothingIsDecidedEarly() {
    clock.setAhead(sabotaged, HOUR);
    Instant soon = Scenario.in(Duration.ofSeconds(2));
    sabotaged.create("all-soon-", ORDERS, soon);
    createAndPayMeanwhile("all-");
    scenario.awaitPast(soon);
    // A watermark that is ahead of Postgres's clock decides nothing.
    assertThat(sabotaged.count("all-soon-", "PENDING")).isEqualTo(ORDERS);
    clock.setAhead(sabotaged, Duration.ZERO);

    Verdict verdict = sabotaged.judge("all-");

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
    assertThat(verdict.inState("PENDING")).isEqualTo(ORDERS);
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
  }

  @Test
  void withoutPostgresClockInTheDecisionOrdersAreCancelledEarly() {
    clock.setAhead(sabotaged, HOUR);
    sabotaged.safeguards().remove(Safeguard.POSTGRES_CLOCK_IN_DECISION);
    createAndPayMeanwhile("clock-");

    Verdict verdict = sabotaged.judge("clock-");

    // Early by the row, by the time in the event, and by the event's timestamp.
    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.EARLY, 3 * 2 * ORDERS, Kind.PAID_YET_CANCELLED, ORDERS));
  }

  @Test
  void anOrderThatIsPaidAfterAWatermarkFromAFastClockIsPaid() {
    payAfterWatermark("ahead-");

    Verdict verdict = sabotaged.judge("ahead-");

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(1);
  }

  @Test
  void withoutTheComparisonOfTheWatermarkWithPostgresClockItIsCancelled() {
    payAfterWatermark("passed-", Safeguard.WATERMARK_NOT_AHEAD_IN_DECISION);
    sabotaged.awaitStates("passed-", "CANCELLED", 1);

    Verdict verdict = sabotaged.judge("passed-");

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.PAID_YET_CANCELLED, 1));
  }

  /**
   * Pays an order in time, but after the watermark was read by which it is to be decided: its time
   * comes from a server whose clock was ahead, so it is after the deadline nevertheless.
   */
  private void payAfterWatermark(String prefix, Safeguard... removed) {
    // By less than the other orders have left, which must not come due.
    clock.setAhead(sabotaged, Duration.ofMinutes(10));
    sabotaged.safeguards().remove(removed);
    payments.block();
    Instant deadline = Deadlines.afterCreation(scenario);
    beforeDecision.close();
    sabotaged.create(prefix, 1, deadline);
    await("the decision").until(beforeDecision::isReached);
    sabotaged.pay(prefix, 1);
    scenario.awaitPast(deadline);
    int before = decisions.get();
    beforeDecision.open();
    await("the decision").until(() -> decisions.get() > before);
    payments.unblock();
    clock.setAhead(sabotaged, Duration.ZERO);
  }

  /** Creates orders that are due by the clock; pays half of them after attempts to decide them. */
  private void createAndPayMeanwhile(String prefix) {
    int before = decisions.get();
    Instant createdAt = Scenario.in(Duration.ZERO);
    Instant deadline = createdAt.plus(Duration.ofMinutes(30));
    for (int i = 0; i < ORDERS; i++) {
      scenario.create(prefix + "unpaid-" + i, 0, deadline, createdAt);
      scenario.create(prefix + "paid-" + i, 0, deadline, createdAt);
    }
    await("decisions")
        .until(
            () ->
                sabotaged.count(prefix, "CANCELLED") == 2 * ORDERS
                    || (sabotaged.count(prefix + "unpaid-", "PENDING") == ORDERS
                        && sabotaged.count(prefix + "paid-", "PENDING") == ORDERS
                        && decisions.get() - before >= 3));
    sabotaged.pay(prefix + "paid-", ORDERS);
  }
}
