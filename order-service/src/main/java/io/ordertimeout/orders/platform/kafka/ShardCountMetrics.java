package io.ordertimeout.orders.platform.kafka;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.stereotype.Component;

/** How many shards there are, so that the owned ones can be held against them. */
@Component
class ShardCountMetrics {

  private final InputTopics topics;
  private volatile int last;

  ShardCountMetrics(InputTopics topics, MeterRegistry meters) {
    this.topics = topics;
    Gauge.builder("order.timeout.shards", this, ShardCountMetrics::shards)
        .description("Shards that there are, as last seen: partitions of the input topics")
        .register(meters);
  }

  private int shards() {
    InputTopics.Layout layout = topics.layout();
    if (layout != null) {
      last = layout.partitions();
    }
    return last;
  }
}
