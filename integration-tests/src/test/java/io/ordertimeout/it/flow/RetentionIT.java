package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Settled orders are purged after the retention, pending ones never. */
class RetentionIT {

  @Test
  void onlyOrdersSettledLongerAgoThanTheRetentionArePurged() {
    try (Scenario scenario = Scenario.create();
        Service service =
            scenario.startService(
                "order-timeout.deadline.retention", "1h",
                "order-timeout.deadline.purge-interval", "1s")) {
      Database database = scenario.database();
      scenario.createPending("pending", 0);
      database.settleInThePast("recent", Duration.ofMinutes(30));
      database.settleInThePast("old", Duration.ofMinutes(61));
      for (String parked : new String[] {"pending", "old"}) {
        database.execute(
            "insert into parked_order values (?, 0, 'refused', clock_timestamp() - '61"
                + " min'::interval)",
            parked);
      }

      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  database.state("old") == null
                      && database.conflicts() == 1
                      && database.count("select count(*) from parked_order") == 1);

      assertThat(database.states()).isEqualTo(Map.of("pending", "PENDING", "recent", "PAID"));
      assertThat(service.gauge("order.timeout.outbox.unpublished")).isZero();
    }
  }
}
