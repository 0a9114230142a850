package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Instance;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** A pause of expiry holds for all instances, whichever of them took the request. */
@Order(60)
class PausedInstancesIT {

  @Test
  void aPauseHoldsAllInstancesAtOnceAndOutlivesThem() {
    try (Scenario scenario = Scenario.create()) {
      Instant deadline;
      String pause;
      try (Service one = scenario.startService();
          Service other = scenario.startService()) {
        Instance.awaitShared(one, other);
        pause = one.pause(Map.of("moveDeadlines", false));
        for (Service each : new Service[] {one, other}) {
          await("the pause to be known")
              .until(() -> each.gauge("order.timeout.expiry.paused", "by", "operator") == 1);
        }
        deadline = Scenario.in(Duration.ofMillis(500));
        for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
          scenario.create("order-" + shard, shard, deadline);
        }
        awaitHeld(one, other);
        assertThat(scenario.database().pending()).isEqualTo(3);
      }
      try (Service restarted = scenario.startService()) {
        awaitHeld(restarted);
        assertThat(scenario.database().pending()).isEqualTo(3);
        assertThat(
                restarted
                    .http()
                    .viewer()
                    .get("/api/v1/overview")
                    .json()
                    .at("/pauses/0/reason")
                    .asString())
            .isEqualTo("the payment provider is down");

        restarted.endPause(pause);
        for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
          assertThat(scenario.outcomes().awaitCancelled("order-" + shard).instant("deadline"))
              .isEqualTo(deadline);
        }
        assertThat(restarted.counter("order.timeout.repaired")).isZero();
      }
    }
  }

  /** Waits until the services report the due orders as covered by the pause. */
  private static void awaitHeld(Service... services) {
    for (Service service : services) {
      await("orders to be held")
          .until(() -> service.gauge("order.timeout.suspended") == Scenario.PARTITIONS);
    }
  }
}
