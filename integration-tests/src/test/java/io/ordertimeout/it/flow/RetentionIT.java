package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Settled orders are kept for the retention, pending ones for as long as it takes. */
class RetentionIT {

  @Test
  void onlyWhatWasSettledBeforeTheRetentionIsPurged() {
    try (Scenario scenario = Scenario.create()) {
      Database database = scenario.database();
      try (Service first = scenario.startService()) {
        scenario.shop().created("pending", Map.of("timeout", "PT1H"));
        await().until(() -> first.gauge("order.timeout.pending") == 1);
      }
      database.settleInThePast("old", Duration.ofMinutes(61));
      database.settleInThePast("recent", Duration.ofMinutes(30));
      for (String parked : new String[] {"pending", "old"}) {
        database.execute(
            "insert into parked_order values (?, 0, 'refused', clock_timestamp() - '61 min'::interval)",
            parked);
      }

      try (Service second =
          scenario.startService(
              "order-timeout.deadline.retention", "1h",
              "order-timeout.deadline.purge-interval", "1s")) {
        await()
            .atMost(Duration.ofSeconds(30))
            .until(
                () ->
                    database.state("old") == null
                        && database.conflicts() == 1
                        && database.count("select count(*) from parked_order") == 1);

        assertThat(database.states()).isEqualTo(Map.of("pending", "PENDING", "recent", "PAID"));
        assertThat(second.gauge("order.timeout.outbox.unpublished")).isZero();
      }
    }
  }
}
