package io.ordertimeout.orders.platform.kafka;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.stereotype.Component;

/** Metrics of the total number of shards, to compare the number of owned shards with. */
@Component
class ShardCountMetrics {

  private final InputTopics topics;
  private volatile int last;

  ShardCountMetrics(InputTopics topics, MeterRegistry meters) {
    this.topics = topics;
    Gauge.builder("order.timeout.shards", this, ShardCountMetrics::shards)
        .description(
            "Number of shards, the greatest number of partitions of the input topics so far")
        .register(meters);
  }

  private int shards() {
    InputTopics.Layout layout = topics.layout();
    if (layout != null) {
      last = layout.shards();
    }
    return last;
  }
}
