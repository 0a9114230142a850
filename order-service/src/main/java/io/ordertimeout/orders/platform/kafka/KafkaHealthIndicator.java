package io.ordertimeout.orders.platform.kafka;

import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.stereotype.Component;

/** Health of Kafka. Consumers do not reveal an outage: their polls just return no records. */
@Component
class KafkaHealthIndicator extends AbstractHealthIndicator {

  private static final int TIMEOUT_MILLIS = 3_000;

  private final Admin admin;

  KafkaHealthIndicator(Admin admin) {
    super("Kafka does not answer");
    this.admin = admin;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) throws InterruptedException {
    DescribeClusterResult cluster =
        admin.describeCluster(new DescribeClusterOptions().timeoutMs(TIMEOUT_MILLIS));
    try {
      health
          .up()
          .withDetail("clusterId", cluster.clusterId().get())
          .withDetail("brokers", cluster.nodes().get().size());
    } catch (ExecutionException e) {
      health.outOfService().withDetail("error", String.valueOf(e.getCause()));
    }
  }
}
