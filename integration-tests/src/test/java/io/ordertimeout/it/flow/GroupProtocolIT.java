package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Kafka's rebalance protocol is a setting. */
class GroupProtocolIT {

  @Test
  void theClassicProtocolWorksToo() {
    try (Stage stage = Stage.create();
        Service service = stage.startService("order-timeout.intake.group-protocol", "classic")) {
      stage.shop().created("unpaid", Map.of("timeout", "PT1S"));
      stage.shop().created("paid", Map.of("timeout", "PT1S"));
      stage.shop().paid("paid", "p1");
      stage.outcomes().awaitCancelled("unpaid");
      stage.awaitAllDecided();

      assertThat(stage.database().state("paid")).isEqualTo("PAID");
      assertThat(stage.outcomes().cancelled()).hasSize(1);
      assertThat(service.gauge("order.timeout.pending")).isZero();
    }
  }
}
