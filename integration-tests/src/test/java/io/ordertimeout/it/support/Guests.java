package io.ordertimeout.it.support;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Members of a service's consumer group that take shards and read nothing that counts. */
public final class Guests implements AutoCloseable {

  private static final Duration POLL = Duration.ofMillis(10);

  private final List<KafkaConsumer<byte[], byte[]>> consumers;

  private Guests(List<KafkaConsumer<byte[], byte[]>> consumers) {
    this.consumers = consumers;
  }

  /** Starts a member that gets its share of the shards. */
  public static Guests one(Scenario scenario) {
    return new Guests(List.of(guest(scenario, Map.of())));
  }

  /**
   * Starts as many members as there are shards. They get all of them, because named members are
   * served first.
   */
  public static Guests forAllShards(Scenario scenario) {
    return new Guests(
        IntStream.range(0, Scenario.PARTITIONS)
            .mapToObj(
                i -> guest(scenario, Map.of(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, "guest-" + i)))
            .toList());
  }

  /** Takes part in the group: takes what is assigned, and gives back what is revoked. */
  public void poll() {
    consumers.forEach(consumer -> consumer.poll(POLL));
  }

  /** Whether a member has got a share. */
  public boolean isServed() {
    return consumers.stream().anyMatch(consumer -> !consumer.assignment().isEmpty());
  }

  private static KafkaConsumer<byte[], byte[]> guest(
      Scenario scenario, Map<String, Object> settings) {
    Map<String, Object> all =
        new HashMap<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                scenario.bootstrapServers(),
                ConsumerConfig.GROUP_ID_CONFIG,
                scenario.name(),
                ConsumerConfig.GROUP_PROTOCOL_CONFIG,
                "consumer",
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                "false"));
    all.putAll(settings);
    KafkaConsumer<byte[], byte[]> guest =
        new KafkaConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    guest.subscribe(
        List.of(scenario.topics().created(), scenario.topics().paid(), scenario.topics().closed()));
    return guest;
  }

  @Override
  public void close() {
    consumers.forEach(KafkaConsumer::close);
  }
}
