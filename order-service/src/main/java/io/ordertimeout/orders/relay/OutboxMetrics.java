package io.ordertimeout.orders.relay;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.stereotype.Component;

/** What waits in the outbox. */
@Component
class OutboxMetrics implements MeterBinder {

  private final OutboxRelay relay;

  OutboxMetrics(OutboxRelay relay) {
    this.relay = relay;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Gauge.builder("order.timeout.outbox.unpublished", relay, OutboxRelay::unpublished)
        .description("Events of the owned shards that Kafka has not acknowledged yet")
        .register(registry);
  }
}
