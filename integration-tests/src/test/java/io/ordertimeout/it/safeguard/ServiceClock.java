package io.ordertimeout.it.safeguard;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Scenario;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** The service's estimate of Postgres's clock, which the test sets ahead. */
final class ServiceClock {

  /** The statement by which the service reads Postgres's clock. */
  static final String TIME = "select clock_timestamp()";

  private static final int PARTITION = 2;

  private final Scenario scenario;
  private volatile Duration ahead = Duration.ZERO;

  ServiceClock(Scenario scenario) {
    this.scenario = scenario;
  }

  BeanPostProcessor interceptor() {
    return StatementInterceptor.rewriting(
        sql -> sql.strip().equals(TIME) ? sql + " + interval '" + ahead + "'" : sql);
  }

  /** Sets the clock ahead of Postgres's, or right if the duration is zero. */
  void setAhead(SabotagedService sabotaged, Duration duration) {
    if (ahead.equals(duration)) {
      return;
    }
    // For an order that is due by its estimate, the service reads the clock and corrects it.
    Instant due = Scenario.in(ahead);
    ahead = duration;
    String order = "clock-" + UUID.randomUUID();
    scenario.create(order, PARTITION, due);
    await("the clock " + duration + " ahead")
        .until(
            () ->
                Math.abs(
                        sabotaged.service().gauge("order.timeout.clock.offset")
                            - duration.toSeconds())
                    < 60);
    scenario.closeOrder(order, PARTITION);
    await("no due order").until(() -> !"PENDING".equals(scenario.database().state(order)));
  }
}
