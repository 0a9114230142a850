package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** A grace period after the deadline, for payments that are slow to reach Kafka. */
class SettlementGraceIT {

  @Test
  void aPaymentWithinTheGraceIsInTimeAndAnUnpaidOrderIsCancelledAfterIt() {
    Duration grace = Duration.ofSeconds(4);
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService("order-timeout.expiry.settlement-grace", "4s")) {
      service.awaitReady(true);
      Instant deadline = Scenario.in(Duration.ofMillis(200));
      scenario.create("paid", 0, deadline);
      scenario.create("unpaid", 0, deadline);
      scenario.awaitPast(deadline);
      assertThat(Instant.ofEpochMilli(scenario.pay("paid", 0).timestamp()))
          .as("the payment's time")
          .isBetween(deadline, deadline.plus(grace));

      PublishedEvent cancelled = scenario.outcomes().awaitCancelled("unpaid");
      assertThat(cancelled.instant("deadline")).isEqualTo(deadline);
      assertThat(cancelled.instant("cancelledAt")).isAfterOrEqualTo(deadline.plus(grace));
      assertThat(scenario.database().state("paid")).isEqualTo("PAID");
      assertThat(service.counter("order.timeout.conflicts")).isZero();
      assertThat(service.gauge("order.timeout.overdue")).isZero();
    }
  }
}
