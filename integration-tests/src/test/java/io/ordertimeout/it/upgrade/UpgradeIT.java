package io.ordertimeout.it.upgrade;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Oracle;
import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.support.Database;
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
 * This version replaces the previous one under traffic. An instance of the previous version is
 * stopped only after the schema was migrated under it, which is too late.
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

  private static final String PUBLISHED_BEFORE =
      "select (select count(*) from published_cancellation) + (select count(*) from payment_conflict)";

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES)
  void noOrderNoticesThatTheVersionIsReplaced() {
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
        await("a conflict")
            .atMost(PATIENCE)
            .until(() -> database.count("select count(*) from payment_conflict") > 0);
        await("a parked order")
            .atMost(PATIENCE)
            .until(() -> database.count("select count(*) from parked_order") > 0);
        FilledTables filled = FilledTables.fill(database);
        long events = database.count(PUBLISHED_BEFORE);

        try (ServiceProcess current = scenario.startProcess(scenario.name() + "-new", jvm())) {
          await("the migration")
              .atMost(PATIENCE)
              .until(
                  () ->
                      database.count(
                              "select count(*) from flyway_schema_history"
                                  + " where version = '17' and success")
                          == 1);
          filled.assertKept();
          assertThat(database.count("select count(*) from outbox")).isGreaterThanOrEqualTo(events);

          assertThat(old.stop()).as("the previous version stopped by itself").isTrue();
          current.awaitReady();
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
