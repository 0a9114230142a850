package io.ordertimeout.orders.operator;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.ordertimeout.orders.outbox.Relay;
import org.springframework.stereotype.Component;

/** What waits in the outbox. */
@Component
class OutboxMetrics implements MeterBinder {

  private final Relay relay;

  OutboxMetrics(Relay relay) {
    this.relay = relay;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Gauge.builder("order.timeout.outbox.unpublished", relay, Relay::unpublished)
        .description("Events of the owned shards that Kafka has not acknowledged yet")
        .register(registry);
  }
}
