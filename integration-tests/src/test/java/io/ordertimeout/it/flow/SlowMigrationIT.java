package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** A migration may take longer than any other statement of the service. */
class SlowMigrationIT {

  private static final String WAITING_MIGRATIONS =
      "select count(*) from pg_locks where locktype = 'advisory' and objid = 900 and not granted";

  private static final String MIGRATIONS =
      "select count(*) from flyway_schema_history where version = '900' and success";

  @Test
  void aMigrationMayTakeLongerThanTheTimeOutsAndOtherInstancesGoOnMeanwhile() throws SQLException {
    try (Scenario scenario = Scenario.create();
        Service running = scenario.startService()) {
      running.awaitReady(true);
      CompletableFuture<Service> upgraded;
      // The migration takes as long as this connection is open.
      try (Connection lock = scenario.database().connect()) {
        lock.createStatement().execute("select pg_advisory_lock(900)");
        CompletableFuture<StepHealthRegistry> steps = new CompletableFuture<>();
        upgraded = startUpgraded(scenario, steps);
        await("the migration")
            .atMost(Duration.ofMinutes(1))
            .until(() -> scenario.database().count(WAITING_MIGRATIONS) == 1);

        for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
          scenario.createPending("paid-" + partition, partition);
          scenario.pay("paid-" + partition, partition);
          scenario.awaitState("paid-" + partition, "PAID");
          scenario.passDeadline("unpaid-" + partition, partition);
        }
        assertThat(scenario.database().count(WAITING_MIGRATIONS)).isEqualTo(1);
        assertThat(steps.join().failing()).as("steps that wait for the migration").isEmpty();
      }

      try (Service migrated = upgraded.join()) {
        migrated.awaitReady(true);
        assertThat(scenario.database().count(MIGRATIONS)).isEqualTo(1);
      }
    }
  }

  /** A service migrates while it starts, so it passes its steps on before. */
  private static CompletableFuture<Service> startUpgraded(
      Scenario scenario, CompletableFuture<StepHealthRegistry> steps) {
    BeanPostProcessor passSteps =
        new BeanPostProcessor() {
          @Override
          public Object postProcessAfterInitialization(Object bean, String name) {
            if (bean instanceof StepHealthRegistry registry) {
              steps.complete(registry);
            }
            return bean;
          }
        };
    return CompletableFuture.supplyAsync(
        () ->
            scenario.startService(
                List.of(passSteps),
                // Shorter than the migration takes.
                "order-timeout.deadline.purge-interval",
                "1s",
                "spring.flyway.locations",
                "classpath:db/migration,classpath:slow-migration",
                "spring.datasource.hikari.data-source-properties.options",
                "-c statement_timeout=1s -c idle_in_transaction_session_timeout=1s",
                "spring.datasource.hikari.data-source-properties.socketTimeout",
                "2"),
        // Not a thread of the tests' pool, which other tests need.
        task -> new Thread(task, "upgraded").start());
  }
}
