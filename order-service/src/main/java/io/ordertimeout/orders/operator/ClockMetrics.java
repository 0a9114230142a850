package io.ordertimeout.orders.operator;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.ordertimeout.orders.DatabaseClock;
import org.springframework.stereotype.Component;

/** How far this machine's clock is from the one that decides. */
@Component
class ClockMetrics implements MeterBinder {

  private final DatabaseClock clock;

  ClockMetrics(DatabaseClock clock) {
    this.clock = clock;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Gauge.builder("order.timeout.clock.offset", clock, c -> c.offset().toNanos() / 1e9)
        .description("By how much Postgres's clock is ahead of this machine's")
        .baseUnit("seconds")
        .register(registry);
  }
}
