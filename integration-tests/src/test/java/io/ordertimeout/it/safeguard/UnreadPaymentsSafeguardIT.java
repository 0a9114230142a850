package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Ledger;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Payments that came in time and are not read yet when their orders are due. */
class UnreadPaymentsSafeguardIT {

  private static final int ORDERS = 10;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Test
  void asItIsThePaidOrdersArePaid() {
    Verdict verdict = play();
    assertThat(verdict.broken()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
  }

  @Test
  void withoutTheGateAPaidOrderIsCancelled() {
    Verdict verdict = play(Without.theGate());
    assertThat(verdict.kinds())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.PAID_YET_CANCELLED, ORDERS));
  }

  @Test
  void withoutTheGuardOfTheDecisionAnOrderThatWasPaidMeanwhileIsCancelled() {
    Verdict verdict = play(Without.theGuardOfTheDecision());
    assertThat(verdict.kinds())
        .as("%s", verdict)
        .isEqualTo(
            Map.of(
                Kind.PAID_YET_CANCELLED,
                ORDERS,
                // PAID in the table, then CANCELLED.
                Kind.DECIDED_TWICE,
                ORDERS,
                // The payment found its order pending, so it was not in conflict.
                Kind.CONFLICT_MISSING,
                ORDERS));
  }

  /** It is a second belt: the gate in front of the statement keeps the promise alone. */
  @Test
  void withoutTheWatermarkInTheDecisionThePaidOrdersArePaid() {
    Verdict verdict = play(Without.theWatermarkInTheDecision());
    assertThat(verdict.broken()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
  }

  private static Verdict play(BeanPostProcessor... sabotage) {
    HeldIntake intake = new HeldIntake();
    List<BeanPostProcessor> seams =
        Stream.concat(Stream.of(sabotage), Stream.of(intake.seam())).toList();
    try (Scenario scenario = Scenario.create();
        Ledger ledger = Ledger.open(scenario);
        Service service = scenario.startService(seams);
        intake) {
      service.awaitReady(true);
      ledger.watchChanges();
      Instant deadline = Scenario.in(Duration.ofSeconds(8));
      for (int i = 0; i < ORDERS; i++) {
        scenario.create("order-" + i, 0, deadline);
      }
      scenario.awaitQuiet();
      intake.hold();
      for (int i = 0; i < ORDERS; i++) {
        scenario.pay("order-" + i, 0);
      }
      await("decision or the gate")
          .atMost(PATIENCE)
          .until(
              () ->
                  scenario.database().pending() == 0
                      || service.gauge("order.timeout.watermark.lag") > 0.5);
      intake.release();
      return ledger.judge(PATIENCE);
    }
  }
}
