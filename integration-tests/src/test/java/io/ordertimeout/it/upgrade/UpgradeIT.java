package io.ordertimeout.it.upgrade;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Oracle;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Instance;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import io.ordertimeout.it.traffic.Traffic;
import io.ordertimeout.it.traffic.TrafficProfile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The previous version and this one share the shards under traffic, while one replaces the other.
 * The schema is migrated while the previous version uses it.
 */
@Tag("faults")
@Order(10)
class UpgradeIT {

  private static final Logger log = LoggerFactory.getLogger(UpgradeIT.class);
  private static final TrafficProfile PROFILE = TrafficProfile.everything();
  private static final long SEED = 20_261_124;
  private static final int ORDERS_PER_SECOND = 60;
  private static final int CANCELLATIONS_PER_STEP = Integer.getInteger("upgrade.cancellations", 40);
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES)
  void noOrderNoticesThatTheVersionsAreReplacedOneByOne() {
    Path previous = PreviousVersion.jar();
    try (Scenario scenario = Scenario.withoutTables();
        Oracle oracle = Oracle.observe(scenario);
        ServiceProcess old = scenario.startProcess(scenario.name() + "-old", previous)) {
      old.awaitReady();
      oracle.recordForbiddenChanges();
      // Starts and moves of shards are not what is judged here, and the machine does other work.
      oracle.disturbed();
      try (Traffic traffic =
          Traffic.start(scenario, oracle.acknowledgements(), PROFILE, SEED, ORDERS_PER_SECOND)) {
        awaitCancellations(oracle);
        Database database = scenario.database();
        await("a conflict").atMost(PATIENCE).until(() -> database.conflicts() > 0);
        await("a parked order")
            .atMost(PATIENCE)
            .until(() -> database.count("select count(*) from parked_order") > 0);
        FilledTables filled = FilledTables.fill(database);

        try (ServiceProcess current = scenario.startProcess(scenario.name() + "-new", jvm())) {
          current.awaitReady();
          filled.assertKept();
          Instance.awaitShared(old, current);
          awaitCancellations(oracle);
          assertThat(old.isReady()).as("the previous version, beside this one").isTrue();

          assertThat(old.stop()).as("the previous version stopped by itself").isTrue();
          current.awaitOwnedShards(Scenario.PARTITIONS);
          awaitCancellations(oracle);
          traffic.finish();
          Verdict verdict = oracle.judge(PATIENCE, PROFILE.bounds());
          log.info("{}", verdict);

          assertThat(verdict.brokenPromises()).isEmpty();
          filled.assertKept();
        }
      }
    }
  }

  private static List<String> jvm() {
    return List.of("-Xmx256m");
  }

  private static void awaitCancellations(Oracle oracle) {
    long before = oracle.cancellations();
    await("cancellations")
        .atMost(PATIENCE)
        .until(() -> oracle.cancellations() - before >= CANCELLATIONS_PER_STEP);
  }
}
