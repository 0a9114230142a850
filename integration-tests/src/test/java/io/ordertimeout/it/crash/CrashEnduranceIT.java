package io.ordertimeout.it.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Oracle;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import io.ordertimeout.it.traffic.Traffic;
import io.ordertimeout.it.traffic.TrafficProfile;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Repeated kills of the service under load, alone; {@code ChaosIT} has them among other faults. */
@Tag("endurance")
class CrashEnduranceIT {

  private static final Logger log = LoggerFactory.getLogger(CrashEnduranceIT.class);
  private static final TrafficProfile PROFILE = TrafficProfile.everything();
  private static final Duration SETTLING = Duration.ofSeconds(5);
  private static final long SEED = 20_260_101;
  private static final int ORDERS_PER_SECOND = 200;
  private static final int KILLS = 3;
  private static final int CANCELLATIONS_BETWEEN_KILLS = 150;
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  @Test
  @Timeout(1_200)
  void everyOrderIsAccountedForAfterThreeKills() {
    try (Scenario scenario = Scenario.create();
        Oracle oracle = Oracle.observe(scenario)) {
      ServiceProcess process = scenario.startProcess();
      process.awaitReady();
      oracle.recordForbiddenChanges();
      // The process has just started.
      oracle.disturbed();
      try (Traffic traffic =
          Traffic.start(scenario, oracle.acknowledgements(), PROFILE, SEED, ORDERS_PER_SECOND)) {
        for (int i = 0; i < KILLS; i++) {
          awaitCancellations(oracle);
          process.kill();
          process = scenario.startProcess();
        }
        awaitCancellations(oracle);
        oracle.awaitCaughtUp(PATIENCE);
        oracle.restored(SETTLING);
        traffic.finish();
        Verdict verdict = oracle.judge(PATIENCE, PROFILE.bounds());
        log.info("{}", verdict);
        assertThat(verdict.brokenPromises()).isEmpty();
        assertThat(verdict.undisturbedCancellations()).isPositive();
        assertThat(verdict.inState("CANCELLED")).isGreaterThan(KILLS * CANCELLATIONS_BETWEEN_KILLS);
      } finally {
        process.close();
      }
    }
  }

  private static void awaitCancellations(Oracle oracle) {
    long before = oracle.cancellations();
    await("cancellations")
        .atMost(PATIENCE)
        .until(() -> oracle.cancellations() - before >= CANCELLATIONS_BETWEEN_KILLS);
  }
}
