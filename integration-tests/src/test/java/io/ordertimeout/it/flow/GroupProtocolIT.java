package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The rebalance protocol of the consumer group, which is configurable. */
class GroupProtocolIT {

  @Test
  void theClassicProtocolWorksToo() {
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService("order-timeout.intake.group-protocol", "classic")) {
      scenario.shop().paid("paid", "p1");
      scenario.shop().created("paid", Map.of("timeout", "PT0.5S"));
      scenario.shop().created("unpaid", Map.of("timeout", "PT0.5S"));
      scenario.outcomes().awaitCancelled("unpaid");
      scenario.awaitAllDecided();

      assertThat(scenario.database().state("paid")).isEqualTo("PAID");
      assertThat(scenario.outcomes().cancelled()).hasSize(1);
      assertThat(service.gauge("order.timeout.pending")).isZero();
    }
  }
}
