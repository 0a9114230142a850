package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Kafka's rebalance protocol is a setting. */
class GroupProtocolIT {

  @Test
  void theClassicProtocolWorksToo() {
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService("order-timeout.intake.group-protocol", "classic")) {
      scenario.shop().created("unpaid", Map.of("timeout", "PT1S"));
      scenario.shop().created("paid", Map.of("timeout", "PT1S"));
      scenario.shop().paid("paid", "p1");
      scenario.outcomes().awaitCancelled("unpaid");
      scenario.awaitAllDecided();

      assertThat(scenario.database().state("paid")).isEqualTo("PAID");
      assertThat(scenario.outcomes().cancelled()).hasSize(1);
      assertThat(service.gauge("order.timeout.pending")).isZero();
    }
  }
}
