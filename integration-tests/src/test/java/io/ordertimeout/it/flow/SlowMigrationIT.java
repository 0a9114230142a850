package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import org.junit.jupiter.api.Test;

/** A migration may take longer than any other statement of the service. */
class SlowMigrationIT {

  @Test
  void aMigrationMayTakeLongerThanTheTimeOutsOfTheConnections() {
    try (Scenario scenario = Scenario.create();
        Service service =
            scenario.startService(
                "spring.flyway.locations",
                "classpath:db/migration,classpath:slow-migration",
                "spring.datasource.hikari.data-source-properties.options",
                "-c statement_timeout=1s -c idle_in_transaction_session_timeout=1s",
                "spring.datasource.hikari.data-source-properties.socketTimeout",
                "2")) {
      service.awaitReady(true);

      assertThat(
              scenario
                  .database()
                  .count(
                      "select count(*) from flyway_schema_history where version = '900' and success"))
          .isEqualTo(1);
    }
  }
}
