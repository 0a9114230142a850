package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Waiting behind the deadline, for payments that take their time from the customer to Kafka. */
class SettlementGraceIT {

  @Test
  void aPaymentWithinTheGraceIsInTimeAndWithoutOneTheOrderIsCancelledBehindIt() {
    Duration grace = Duration.ofSeconds(3);
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService("order-timeout.expiry.settlement-grace", "3s")) {
      Instant deadline = Scenario.in(Duration.ofSeconds(1));
      scenario.create("paid", 0, deadline);
      scenario.create("unpaid", 0, deadline);
      scenario.awaitPast(deadline);
      scenario.pay("paid", 0);

      PublishedEvent cancelled = scenario.outcomes().awaitCancelled("unpaid");
      assertThat(cancelled.instant("deadline")).isEqualTo(deadline);
      assertThat(cancelled.instant("cancelledAt")).isAfterOrEqualTo(deadline.plus(grace));
      assertThat(scenario.database().state("paid")).isEqualTo("PAID");
      assertThat(service.counter("order.timeout.conflicts")).isZero();
      assertThat(service.gauge("order.timeout.overdue")).isZero();
    }
  }
}
