package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.KafkaAdmin;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** A compacted topic of payments, whose offsets have gaps. */
@Order(70)
class CompactedTopicIT {

  private static final Duration SOON = Duration.ofSeconds(1);

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();
  private final TopicNames topics = scenario.topics();
  private final TopicPartition payments = new TopicPartition(topics.paid(), 0);

  @Test
  void gapsInTheOffsetsDelayNothingAndHideNoPayment() {
    compactPayments();
    try (Service service = scenario.startService()) {
      service.awaitReady(true);
      scenario.create("unpaid-0", 0, Scenario.in(SOON));
      scenario.pay("paid-0", 0);
      payAgainAndAgain();
      scenario.awaitAllDecided();
    }
    // The record at the stored position is gone when the service starts again.
    publish(1, 10);
    awaitGaps();

    try (Service service = scenario.startService()) {
      scenario.awaitAllDecided();
      assertDecided(10);

      publish(10, 20);
      scenario.awaitAllDecided();
      assertDecided(20);
      assertThat(service.counter("order.timeout.repaired")).isZero();
      assertThat(service.gauge("order.timeout.expiry.held")).isZero();
    }
  }

  private void publish(int from, int to) {
    for (int i = from; i < to; i++) {
      scenario.create("paid-" + i, 0, Scenario.in(SOON));
      scenario.create("unpaid-" + i, 0, Scenario.in(SOON));
      scenario.pay("paid-" + i, 0);
      payAgainAndAgain();
    }
  }

  private void assertDecided(int orders) {
    for (int i = 0; i < orders; i++) {
      assertThat(database.state("paid-" + i)).isEqualTo("PAID");
      assertThat(database.state("unpaid-" + i)).isEqualTo("CANCELLED");
      assertThat(scenario.outcomes().cancelled("unpaid-" + i)).hasSize(1);
    }
    assertThat(scenario.outcomes().cancelled()).hasSize(orders);
    assertThat(scenario.outcomes().conflicts()).isEmpty();
  }

  private void compactPayments() {
    KafkaAdmin.get(
        scenario
            .kafka()
            .client()
            .incrementalAlterConfigs(
                Map.of(
                    new ConfigResource(ConfigResource.Type.TOPIC, topics.paid()),
                    List.of(
                        set(TopicConfig.CLEANUP_POLICY_CONFIG, "compact"),
                        set(TopicConfig.SEGMENT_MS_CONFIG, "500"),
                        set(TopicConfig.MIN_CLEANABLE_DIRTY_RATIO_CONFIG, "0.01"),
                        set(TopicConfig.DELETE_RETENTION_MS_CONFIG, "0"))))
            .all());
  }

  private static AlterConfigOp set(String name, String value) {
    return new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
  }

  private void payAgainAndAgain() {
    List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      sent.add(scenario.shop().send(scenario.payment("again", 0)));
    }
    sent.forEach(Shop::await);
  }

  /** Waits until compaction has removed more than half of the records. */
  private void awaitGaps() {
    await("compaction")
        .pollInterval(Duration.ofSeconds(1))
        .until(
            () -> {
              // Only a record that comes after a segment's time rolls it.
              scenario.pay("again", 0);
              return records()
                  < scenario.kafka().ends(List.of(payments)).getOrDefault(payments, 0L) / 2;
            });
  }

  /** The number of payments that are left. */
  private long records() {
    long end = scenario.kafka().ends(List.of(payments)).getOrDefault(payments, 0L);
    try (Consumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, scenario.bootstrapServers()),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      consumer.assign(List.of(payments));
      consumer.seekToBeginning(List.of(payments));
      long records = 0;
      while (consumer.position(payments) < end) {
        records += consumer.poll(Duration.ofMillis(200)).count();
      }
      return records;
    }
  }
}
