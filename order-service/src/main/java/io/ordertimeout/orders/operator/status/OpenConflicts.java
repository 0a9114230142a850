package io.ordertimeout.orders.operator.status;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.ordertimeout.orders.order.PaymentConflicts;
import io.ordertimeout.orders.order.PaymentConflicts.Open;
import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.springframework.stereotype.Component;

/**
 * The conflicts of all shards that nobody has ended: how many, for how long, and of what amount.
 * Every instance counts the same. Thread-safe.
 */
@Component
class OpenConflicts {

  private static final Duration INTERVAL = Duration.ofSeconds(15);
  private static final int MOST_CURRENCIES = 20;

  private final PaymentConflicts conflicts;
  private final DatabaseClock clock;
  private final MultiGauge amounts;
  private volatile Open counted = Open.NONE;

  OpenConflicts(
      PaymentConflicts conflicts, DatabaseClock clock, PeriodicTasks tasks, MeterRegistry meters) {
    this.conflicts = conflicts;
    this.clock = clock;
    Gauge.builder("order.timeout.open.conflicts", this, open -> open.counted.conflicts())
        .description("Conflicts of all shards that nobody has ended, up to 2,000")
        .register(meters);
    Gauge.builder("order.timeout.open.conflict.age", this, OpenConflicts::age)
        .description("Age of the oldest of them")
        .baseUnit("seconds")
        .register(meters);
    this.amounts =
        MultiGauge.builder("order.timeout.open.conflict.amount")
            .description("Total amount of their orders")
            .register(meters);
    tasks.repeat(
        "open-conflicts", INTERVAL, "the number of open conflicts is not updated", this::count);
  }

  private double age() {
    Instant oldest = counted.oldest();
    return oldest == null ? 0 : Duration.between(oldest, clock.now()).toMillis() / 1e3;
  }

  private void count() {
    if (!clock.isSet()) {
      return;
    }
    Open now = conflicts.open();
    if (!now.amounts().equals(counted.amounts())) {
      amounts.register(rows(now), true);
    }
    counted = now;
  }

  private static List<MultiGauge.Row<?>> rows(Open open) {
    return open.amounts().entrySet().stream()
        .limit(MOST_CURRENCIES)
        .<MultiGauge.Row<?>>map(
            amount -> MultiGauge.Row.of(Tags.of("currency", amount.getKey()), amount.getValue()))
        .toList();
  }
}
