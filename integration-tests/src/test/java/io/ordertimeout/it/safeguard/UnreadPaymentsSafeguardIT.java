package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.UnreadRecords;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Payments that arrived in time, but are not yet read when their orders are due. */
@Tag("faults")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UnreadPaymentsSafeguardIT {

  private static final int ORDERS = 10;

  private final Scenario scenario = Scenario.create();
  private final UnreadRecords payments = new UnreadRecords(scenario.topics().paid());
  private final SabotagedService sabotaged =
      SabotagedService.start(scenario, List.of(payments.interceptor()));

  @AfterEach
  void restore() {
    payments.unblock();
    sabotaged.safeguards().restoreAll();
  }

  @AfterAll
  void close() {
    sabotaged.close();
  }

  @Test
  void withAllSafeguardsThePaidOrdersArePaid() {
    Verdict verdict = run("all-");

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
  }

  @Test
  void withoutTheWatermarkGatePaidOrdersAreCancelled() {
    Verdict verdict = run("gate-", Safeguard.WATERMARK_GATE);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.PAID_YET_CANCELLED, ORDERS));
  }

  @Test
  void withoutTheStateCheckInTheDecisionOrdersPaidMeanwhileAreCancelled() {
    Verdict verdict = run("state-", Safeguard.STATE_CHECK_IN_DECISION);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(
            Map.of(
                Kind.PAID_YET_CANCELLED,
                ORDERS,
                // The row was PAID, then CANCELLED.
                Kind.DECIDED_TWICE,
                ORDERS,
                // The payment found its order pending, so it raised no conflict.
                Kind.CONFLICT_MISSING,
                ORDERS));
  }

  /** The second check is redundant: the gate before the statement keeps the promise alone. */
  @Test
  void withoutTheWatermarkInTheDecisionThePaidOrdersArePaid() {
    Verdict verdict = run("watermark-", Safeguard.WATERMARK_IN_DECISION);

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
  }

  private Verdict run(String prefix, Safeguard... removed) {
    sabotaged.safeguards().remove(removed);
    payments.block();
    // Paid before the deadline is chosen, so the payments are in time on a machine of any speed.
    sabotaged.pay(prefix, ORDERS);
    sabotaged.create(prefix, ORDERS, Scenario.in(Duration.ofSeconds(1)));
    await("registration")
        .atMost(SabotagedService.PATIENCE)
        .until(
            () ->
                sabotaged.count(prefix, "PENDING") + sabotaged.count(prefix, "CANCELLED")
                    == ORDERS);
    // An order that was registered after its deadline comes to the gate a moment later.
    double lag = lag() + 0.5;
    await("the orders to be cancelled, or all of them to wait for their payments")
        .atMost(SabotagedService.PATIENCE)
        .until(() -> sabotaged.count(prefix, "CANCELLED") == ORDERS || lag() > lag);
    payments.unblock();
    return sabotaged.judge(prefix);
  }

  private double lag() {
    return sabotaged.service().gauge("order.timeout.watermark.lag");
  }
}
