package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What shops ask for: a grace after the deadline, which the customer is not told of. */
class GraceIT {

  private static final Duration GRACE = Duration.ofSeconds(4);

  @ParameterizedTest
  @CsvSource({
    "order-timeout.expiry.settlement-grace, 4s",
    "order-timeout.deadline.policies[0].grace, 4s",
  })
  void aPaymentWithinTheGraceIsInTimeAndAnUnpaidOrderIsCancelledAfterIt(
      String property, String grace) {
    try (Scenario scenario = Scenario.create();
        Service service =
            scenario.startService(
                property,
                grace,
                "order-timeout.deadline.policies[0].name",
                "all",
                "order-timeout.deadline.policies[0].timeout",
                "1h")) {
      service.awaitReady(true);
      Instant deadline = Scenario.in(Duration.ofMillis(200));
      scenario.create("paid", 0, deadline);
      scenario.create("unpaid", 0, deadline);
      scenario.awaitPast(deadline);
      assertThat(Instant.ofEpochMilli(scenario.pay("paid", 0).timestamp()))
          .as("the payment's time")
          .isBetween(deadline, deadline.plus(GRACE));

      PublishedEvent cancelled = scenario.outcomes().awaitCancelled("unpaid");
      assertThat(cancelled.instant("deadline")).isEqualTo(deadline);
      assertThat(cancelled.instant("cancelledAt")).isAfterOrEqualTo(deadline.plus(GRACE));
      assertThat(scenario.database().state("paid")).isEqualTo("PAID");
      assertThat(service.counter("order.timeout.conflicts")).isZero();
      assertThat(service.gauge("order.timeout.overdue")).isZero();
      assertThat(service.timeInTimers("order.timeout.lateness"))
          .as("the lateness, which is measured from the end of the grace")
          .isLessThan(GRACE);
      assertThat(service.lateByMillis("unpaid"))
          .isEqualTo(
              Duration.between(deadline.plus(GRACE), cancelled.instant("cancelledAt")).toMillis());
    }
  }

  @Test
  void aGraceLastsThoughItsPolicyIsChangedAndTheServiceRestarts() {
    try (Scenario scenario = Scenario.create()) {
      Instant deadline = Scenario.in(Duration.ofSeconds(1));
      try (Service first =
          scenario.startService(
              "order-timeout.deadline.policies[0].name", "transfer",
              "order-timeout.deadline.policies[0].payment-method", "transfer",
              "order-timeout.deadline.policies[0].timeout", "1h",
              "order-timeout.deadline.policies[0].grace", "12s")) {
        first.awaitReady(true);
        scenario
            .shop()
            .created(
                "by transfer", Map.of("payBy", deadline.toString(), "paymentMethod", "Transfer"));
        scenario.create("other", 0, deadline);
        scenario.awaitQuiet();
      }
      try (Service second = scenario.startService()) {
        second.awaitReady(true);
        assertThat(scenario.outcomes().awaitCancelled("other").instant("cancelledAt"))
            .isAfterOrEqualTo(deadline);
        PublishedEvent cancelled = scenario.outcomes().awaitCancelled("by transfer");
        assertThat(cancelled.instant("deadline")).isEqualTo(deadline);
        assertThat(cancelled.instant("cancelledAt"))
            .isAfterOrEqualTo(deadline.plus(Duration.ofSeconds(12)));
        assertThat(second.counter("order.timeout.repaired", "kind", "deadline")).isZero();
      }
    }
  }
}
