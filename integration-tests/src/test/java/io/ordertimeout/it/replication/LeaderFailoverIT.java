package io.ordertimeout.it.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.KafkaCluster;
import io.ordertimeout.it.support.KafkaCluster.Broker;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TestEnvironment;
import io.ordertimeout.it.support.UnreadRecords;
import io.ordertimeout.it.traffic.Deadlines;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The leader of the payments of shard 0 is killed, and another of three brokers takes over. */
@Tag("faults")
@Order(20)
class LeaderFailoverIT {

  @Test
  void aPaymentThatTheLostLeaderAcknowledgedCounts() {
    try (KafkaCluster kafka = KafkaCluster.start();
        Scenario scenario =
            Scenario.on(
                environment(kafka.bootstrapServers()),
                environment(kafka.proxiedBootstrapServers()));
        UnreadRecords unread = new UnreadRecords(scenario.topics().paid());
        Service service = scenario.startService(List.of(unread.interceptor()))) {
      service.awaitReady(true);
      scenario.createPending("paid", 0);
      scenario.createPending("unpaid", 0);
      unread.block();
      TopicPartition payments = new TopicPartition(scenario.topics().paid(), 0);
      Broker leader = kafka.leader(payments);

      // The other replicas learn only with their next request that the payment is acknowledged.
      scenario.pay("paid", 0);
      leader.kill();
      Deadlines.passNow(scenario.database(), "paid", "unpaid");

      kafka.awaitLeaderOtherThan(leader, payments);
      double lag = lag(service);
      await("orders that wait for the payment").until(() -> lag(service) > lag + 5);
      assertThat(scenario.database().pending()).isEqualTo(2);
      unread.unblock();
      await("both decisions").until(() -> scenario.database().pending() == 0);
      assertThat(scenario.database().state("paid")).isEqualTo("PAID");
      assertThat(scenario.database().state("unpaid")).isEqualTo("CANCELLED");
    }
  }

  private static TestEnvironment environment(String bootstrapServers) {
    TestEnvironment shared = TestEnvironment.shared();
    return new TestEnvironment(
        bootstrapServers, shared.jdbcUrl(), shared.username(), shared.password());
  }

  private static double lag(Service service) {
    return service.gauge("order.timeout.watermark.lag", "shard", "0");
  }
}
