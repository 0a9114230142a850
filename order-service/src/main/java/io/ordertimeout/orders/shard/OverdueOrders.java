package io.ordertimeout.orders.shard;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.PendingOrderStatistics;
import io.ordertimeout.orders.deadline.PendingOrderStatistics.Exceptions;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * The number of orders that should have been decided long ago, and of those past due that a pause
 * or hold keeps from being decided. They cover all shards, including those that no instance owns,
 * so every instance counts the same. Thread-safe.
 */
@Component
public class OverdueOrders {

  /** Enough for an alert; counting everything after a long outage would only add to the load. */
  private static final int WINDOW = 2_000;

  private final PendingOrderStatistics statistics;
  private final SchemaMigration schema;
  private final Shards shards;
  private final Duration overdueAfter;
  private final StepHealth health;
  private volatile Exceptions counted = new Exceptions(0, 0, 0);

  OverdueOrders(
      PendingOrderStatistics statistics,
      SchemaMigration schema,
      Shards shards,
      StepHealthRegistry registry,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.statistics = statistics;
    this.schema = schema;
    this.shards = shards;
    this.overdueAfter =
        properties.reconciler().overdueAfter().plus(properties.expiry().settlementGrace());
    this.health = registry.step("overdue-orders");
    Gauge.builder("order.timeout.overdue", this, OverdueOrders::overdue)
        .description(
            "Pending orders of all shards, owned or not, that are long past due and that no pause or"
                + " hold covers")
        .register(meters);
    Gauge.builder("order.timeout.suspended", this, OverdueOrders::suspended)
        .description("Pending orders of all shards that are long past due under a pause or hold")
        .register(meters);
    Gauge.builder("order.timeout.parked", this, OverdueOrders::parked)
        .description("Pending orders of owned shards that are parked, each for its own reason")
        .register(meters);
  }

  /** Returns the last count of the orders of all shards that should have been decided long ago. */
  public long overdue() {
    return counted.overdue();
  }

  /** Returns the last count of the orders past due that a pause or hold covers. */
  public long suspended() {
    return counted.suspended();
  }

  /** Returns the last count of the pending orders of this instance's shards that are parked. */
  public long parked() {
    return counted.parked();
  }

  @Scheduled(fixedDelay = 5, timeUnit = TimeUnit.SECONDS)
  void count() {
    if (!schema.isMigrated()) {
      return;
    }
    try {
      counted = statistics.exceptions(overdueAfter, WINDOW, shards.owned());
      health.succeeded();
    } catch (RuntimeException | Error e) {
      health.failed("the numbers of overdue and parked orders are not updated", e);
    }
  }
}
