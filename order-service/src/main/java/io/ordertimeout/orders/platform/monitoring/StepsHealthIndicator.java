package io.ordertimeout.orders.platform.monitoring;

import java.time.Duration;
import java.util.Map;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * Health of the processing steps. It detects failures that connection checks miss, for example a
 * Postgres that accepts no writes.
 */
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
