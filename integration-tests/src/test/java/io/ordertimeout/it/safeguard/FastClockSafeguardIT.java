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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * A service whose idea of Postgres's clock is ahead of it, so that wheel and gate are early. Half
 * of the orders are paid after they were woken and before their deadlines.
 */
class FastClockSafeguardIT {

  private static final int ORDERS = 5;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Test
  void asItIsNothingIsDecidedEarly() {
    Verdict verdict = play();
    assertThat(verdict.broken()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
  }

  @Test
  void withoutPostgresClockInTheDecisionOrdersAreCancelledEarly() {
    Verdict verdict = play(Without.postgresClockInTheDecision());
    // By the row, by what the event says, and by when it came.
    assertThat(verdict.kinds())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.EARLY, 3 * 2 * ORDERS, Kind.PAID_YET_CANCELLED, ORDERS));
  }

  private static Verdict play(BeanPostProcessor... sabotage) {
    BeanPostProcessor fastClock =
        Statements.rewritten(
            sql -> sql.equals("select clock_timestamp()") ? sql + " + interval '6 s'" : sql);
    AtomicInteger decisions = new AtomicInteger();
    List<BeanPostProcessor> seams = new ArrayList<>(List.of(sabotage));
    seams.add(fastClock);
    seams.add(Statements.counted(Without.DECISION, decisions));
    try (Scenario scenario = Scenario.create();
        Ledger ledger = Ledger.open(scenario);
        Service service = scenario.startService(seams)) {
      service.awaitReady(true);
      ledger.watchChanges();
      Instant deadline = Scenario.in(Duration.ofSeconds(10));
      for (int i = 0; i < ORDERS; i++) {
        scenario.create("unpaid-" + i, 0, deadline);
        scenario.create("paid-" + i, 0, deadline);
      }
      // Woken in vain, they are woken again soon.
      await("decisions")
          .atMost(PATIENCE)
          .until(
              () ->
                  decisions.get() >= 3
                      || (decisions.get() > 0 && scenario.database().pending() == 0));
      for (int i = 0; i < ORDERS; i++) {
        scenario.pay("paid-" + i, 0);
      }
      scenario.awaitPast(deadline);
      return ledger.judge(PATIENCE);
    }
  }
}
