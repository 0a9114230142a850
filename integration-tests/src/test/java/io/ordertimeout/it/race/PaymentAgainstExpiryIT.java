package io.ordertimeout.it.race;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.oracle.Oracle;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Payments at the instant of their deadlines, for hundreds of orders at once. */
@Tag("faults")
class PaymentAgainstExpiryIT {

  private static final Logger log = LoggerFactory.getLogger(PaymentAgainstExpiryIT.class);
  private static final int ORDERS = 10_000;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @Test
  void everyOrderIsEitherPaidOrCancelledWithOneConflict() {
    try (Scenario scenario = Scenario.create();
        ServiceProcess one = scenario.startProcess();
        ServiceProcess other = scenario.startProcess();
        Oracle oracle = Oracle.observe(scenario)) {
      one.awaitReady();
      other.awaitReady();
      oracle.recordForbiddenChanges();
      Race.run(scenario, oracle.acknowledgements(), ORDERS);
      Verdict verdict = oracle.judge(PATIENCE, Race.PROFILE.bounds());
      log.info("{}", verdict);

      assertThat(verdict.brokenPromises()).isEmpty();
      assertThat(verdict.orders()).isEqualTo(ORDERS);
      assertThat(verdict.inState("PAID") + verdict.inState("CANCELLED")).isEqualTo(ORDERS);
      assertThat(verdict.conflicts()).isEqualTo(verdict.inState("CANCELLED"));
      // Otherwise it was no race.
      assertThat(verdict.inState("PAID")).isPositive();
      assertThat(verdict.inState("CANCELLED")).isPositive();
    }
  }
}
