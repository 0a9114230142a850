package io.ordertimeout.orders.platform.postgres;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.stereotype.Component;

/** Metrics of the offset between this machine's clock and Postgres's, which decides. */
@Component
class DatabaseClockMetrics implements MeterBinder {

  private final DatabaseClock clock;

  DatabaseClockMetrics(DatabaseClock clock) {
    this.clock = clock;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Gauge.builder("order.timeout.clock.offset", clock, c -> c.offset().toNanos() / 1e9)
        .description("How far Postgres's clock is ahead of this machine's clock")
        .baseUnit("seconds")
        .register(registry);
  }
}
