package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A pause of expiry holds for all instances, whichever of them took the request. */
class PausedInstancesIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Test
  void aPauseHoldsAllInstancesAtOnceAndOutlivesThem() {
    try (Scenario scenario = Scenario.create()) {
      Instant deadline;
      String pause;
      try (Service one = scenario.startService();
          Service other = scenario.startService()) {
        await("both to serve")
            .atMost(PATIENCE)
            .until(() -> owned(one) > 0 && owned(other) > 0 && owned(one) + owned(other) == 3);
        pause = pause(one);
        for (Service each : new Service[] {one, other}) {
          await("the pause to be known")
              .atMost(PATIENCE)
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
                    .get("/api/overview")
                    .json()
                    .at("/pauses/0/reason")
                    .asString())
            .isEqualTo("the payment provider is down");

        end(restarted, pause);
        for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
          assertThat(scenario.outcomes().awaitCancelled("order-" + shard).instant("deadline"))
              .isEqualTo(deadline);
        }
        assertThat(restarted.counter("order.timeout.repaired")).isZero();
      }
    }
  }

  private static double owned(Service service) {
    return service.gauge("order.timeout.owned.shards");
  }

  /** Waits until the services report the due orders as covered by the pause. */
  private static void awaitHeld(Service... services) {
    for (Service service : services) {
      await("orders to be held")
          .atMost(PATIENCE)
          .until(() -> service.gauge("order.timeout.suspended") == Scenario.PARTITIONS);
    }
  }

  private static String pause(Service service) {
    Answer answer =
        service
            .http()
            .operator()
            .post(
                "/api/pauses",
                Map.of("moveDeadlines", false, "reason", "the payment provider is down"));
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(200);
    return answer.json().path("subject").asString();
  }

  private static void end(Service service, String pause) {
    Answer answer =
        service
            .http()
            .operator()
            .post("/api/pauses/" + pause + "/end", Map.of("reason", "it is up"));
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(200);
  }
}
