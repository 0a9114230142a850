package io.ordertimeout.orders.shard;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.PastDueOrders;
import io.ordertimeout.orders.order.PastDueOrders.Total;
import io.ordertimeout.orders.order.PendingOrderStatistics;
import io.ordertimeout.orders.order.PendingOrderStatistics.Exceptions;
import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import java.time.Duration;
import java.util.List;
import org.springframework.stereotype.Component;

/**
 * The number of orders that should have been decided long ago, and of those past due that a pause
 * or hold keeps from being decided. They cover all shards, including those that no instance owns,
 * so every instance counts the same. Thread-safe.
 */
@Component
public class OverdueOrders {

  private static final Duration INTERVAL = Duration.ofSeconds(5);
  private static final int MOST_CURRENCIES = 20;

  private final PendingOrderStatistics statistics;
  private final PastDueOrders pastDue;
  private final SchemaMigration schema;
  private final Shards shards;
  private final Duration overdueAfter;
  private final MultiGauge suspendedAmounts;
  private volatile Exceptions counted = new Exceptions(0, 0);
  private volatile Total suspended = Total.NONE;

  OverdueOrders(
      PendingOrderStatistics statistics,
      PastDueOrders pastDue,
      SchemaMigration schema,
      Shards shards,
      PeriodicTasks tasks,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.statistics = statistics;
    this.pastDue = pastDue;
    this.schema = schema;
    this.shards = shards;
    this.overdueAfter = properties.reconciler().overdueAfter();
    Gauge.builder("order.timeout.overdue", this, OverdueOrders::overdue)
        .description(
            "Pending orders of all shards, owned or not, that are long past due and that no pause or"
                + " hold covers")
        .register(meters);
    Gauge.builder("order.timeout.suspended", this, overdue -> overdue.suspended().orders())
        .description("Pending orders of all shards that are past due under a pause or hold")
        .register(meters);
    this.suspendedAmounts =
        MultiGauge.builder("order.timeout.suspended.amount")
            .description("Total amount of those orders")
            .register(meters);
    Gauge.builder("order.timeout.parked", this, OverdueOrders::parked)
        .description("Pending orders of owned shards that are parked, each for its own reason")
        .register(meters);
    tasks.repeat(
        "overdue-orders",
        INTERVAL,
        "the numbers of overdue and parked orders are not updated",
        this::count);
  }

  /** Returns the last count of the orders of all shards that should have been decided long ago. */
  public long overdue() {
    return counted.overdue();
  }

  /** Returns the last count of the orders past due that a pause or hold covers. */
  public Total suspended() {
    return suspended;
  }

  /** Returns the last count of the pending orders of this instance's shards that are parked. */
  public long parked() {
    return counted.parked();
  }

  private void count() {
    if (!schema.isMigrated()) {
      return;
    }
    // Counting everything after a long outage would only add to the load.
    Exceptions exceptions =
        statistics.exceptions(overdueAfter, PastDueOrders.WINDOW, shards.owned());
    Total now = pastDue.suspended();
    if (!now.amounts().equals(suspended.amounts())) {
      suspendedAmounts.register(rows(now), true);
    }
    suspended = now;
    counted = exceptions;
  }

  private static List<MultiGauge.Row<?>> rows(Total total) {
    return total.amounts().entrySet().stream()
        .limit(MOST_CURRENCIES)
        .<MultiGauge.Row<?>>map(
            amount -> MultiGauge.Row.of(Tags.of("currency", amount.getKey()), amount.getValue()))
        .toList();
  }
}
