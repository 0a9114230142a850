package io.ordertimeout.orders.platform.monitoring;

import java.time.Duration;
import java.util.Map;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/** Whether every step of the way works: a Postgres that only reads, for one, fails only there. */
@Component
class StepsHealthIndicator implements HealthIndicator {

  private final StepHealthRegistry steps;

  StepsHealthIndicator(StepHealthRegistry steps) {
    this.steps = steps;
  }

  @Override
  public Health health() {
    Map<String, Duration> failing = steps.failing();
    return (failing.isEmpty() ? Health.up() : Health.outOfService())
        .withDetail("failing", failing)
        .build();
  }
}
