package io.ordertimeout.it.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Ledger;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import io.ordertimeout.it.traffic.Mix;
import io.ordertimeout.it.traffic.Traffic;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The service killed in the middle of its work, again and again. */
class CrashIT {

  private static final Logger log = LoggerFactory.getLogger(CrashIT.class);
  private static final long SEED = 20_260_101;
  private static final int ORDERS_PER_SECOND = 200;
  private static final int KILLS = 3;
  private static final int CANCELLATIONS_BETWEEN_KILLS = 150;
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  @Test
  void everyOrderIsAccountedForAfterThreeKills() {
    try (Scenario scenario = Scenario.create();
        Ledger ledger = Ledger.open(scenario)) {
      ServiceProcess process = scenario.startProcess();
      process.awaitReady();
      ledger.watchChanges();
      try (Traffic traffic = ledger.traffic(Mix.everything(), SEED, ORDERS_PER_SECOND)) {
        for (int i = 0; i < KILLS; i++) {
          awaitCancellations(ledger);
          process.kill();
          process = scenario.startProcess();
          process.awaitReady();
        }
        awaitCancellations(ledger);
        traffic.finish();
        Verdict verdict = ledger.judge(PATIENCE);
        log.info("{}", verdict);
        assertThat(verdict.broken()).isEmpty();
        assertThat(verdict.inState("CANCELLED")).isGreaterThan(KILLS * CANCELLATIONS_BETWEEN_KILLS);
      } finally {
        process.close();
      }
    }
  }

  private static void awaitCancellations(Ledger ledger) {
    long before = ledger.cancellations();
    await("cancellations")
        .atMost(PATIENCE)
        .until(() -> ledger.cancellations() - before >= CANCELLATIONS_BETWEEN_KILLS);
  }
}
