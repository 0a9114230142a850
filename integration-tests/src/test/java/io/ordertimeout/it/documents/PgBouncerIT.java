package io.ordertimeout.it.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Documents;
import io.ordertimeout.it.support.LogCapture;
import io.ordertimeout.it.support.PgBouncer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TestEnvironment;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;

/** The service behind a PgBouncer, with the configuration of the document about it. */
@Tag("pgbouncer")
@ExtendWith(LogCapture.class)
class PgBouncerIT {

  private static final String CONFIGURATION = Documents.code("pgbouncer.md", "ini");
  private static final String SETTINGS_OF_THE_ROLE = Documents.code("pgbouncer.md", "sql");

  private final TestEnvironment shared = TestEnvironment.shared();

  @Test
  void migratesAndDecidesThroughIt() {
    try (PgBouncer bouncer = PgBouncer.start(CONFIGURATION, shared);
        Scenario scenario = Scenario.withoutTablesOn(shared, bouncer.environment())) {
      giveSettingsToTheRole(scenario);
      try (Service service = scenario.startService()) {
        await().until(() -> service.ownedShards() == Scenario.PARTITIONS);
        scenario.create("unpaid", 0, Scenario.in(Duration.ofSeconds(2)));
        scenario.create("paid", 0, Scenario.in(Duration.ofSeconds(2)));
        scenario.pay("paid", 0);

        scenario.outcomes().awaitCancelled("unpaid");
        assertThat(scenario.database().state("paid")).isEqualTo("PAID");
      }
    }
  }

  @Test
  void waitsWithoutTheSettingsOfTheRole(CapturedOutput output) {
    try (PgBouncer bouncer = PgBouncer.start(CONFIGURATION, shared);
        Scenario scenario = Scenario.on(shared, bouncer.environment());
        Service waiting = scenario.startService()) {
      assertThat(output.getAll())
          .contains(
              "No order is read, stored or cancelled",
              "statement_timeout=0 instead of 45s, idle_in_transaction_session_timeout=0 instead of"
                  + " 10s, enable_seqscan=on instead of off");
      assertThat(waiting.ownedShards()).isZero();
    }
  }

  @Test
  void waitsInTransactionMode(CapturedOutput output) {
    String configuration = CONFIGURATION.replace("pool_mode = session", "pool_mode = transaction");
    try (PgBouncer bouncer = PgBouncer.start(configuration, shared);
        Scenario scenario = Scenario.on(shared, bouncer.environment())) {
      giveSettingsToTheRole(scenario);
      try (Service waiting = scenario.startService()) {
        assertThat(output.getAll()).contains("No order is read, stored or cancelled");
        assertThat(waiting.ownedShards()).isZero();
      }
    }
  }

  private void giveSettingsToTheRole(Scenario scenario) {
    scenario
        .database()
        .execute(
            SETTINGS_OF_THE_ROLE.replace(
                "role ordertimeout in database ordertimeout",
                "role \"%s\" in database \"%s\"".formatted(shared.username(), scenario.name())));
  }
}
