package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.rig.PublishedEvent;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Waiting behind the deadline, for payments that take their time from the customer to Kafka. */
class SettlementGraceIT {

  @Test
  void aPaymentWithinTheGraceIsInTimeAndWithoutOneTheOrderIsCancelledBehindIt() {
    Duration grace = Duration.ofSeconds(3);
    try (Stage stage = Stage.create();
        Service service = stage.startService("order-timeout.expiry.settlement-grace", "3s")) {
      Instant deadline = Stage.in(Duration.ofSeconds(1));
      stage.create("paid", 0, deadline);
      stage.create("unpaid", 0, deadline);
      stage.awaitPast(deadline);
      stage.pay("paid", 0);

      PublishedEvent cancelled = stage.outcomes().awaitCancelled("unpaid");
      assertThat(cancelled.instant("deadline")).isEqualTo(deadline);
      assertThat(cancelled.instant("cancelledAt")).isAfterOrEqualTo(deadline.plus(grace));
      assertThat(stage.database().state("paid")).isEqualTo("PAID");
      assertThat(service.counter("order.timeout.conflicts")).isZero();
      assertThat(service.gauge("order.timeout.overdue")).isZero();
    }
  }
}
