package io.ordertimeout.orders.benchmarks.traffic;

import io.ordertimeout.orders.benchmarks.servers.Database;
import io.ordertimeout.orders.benchmarks.servers.Servers;
import io.ordertimeout.orders.benchmarks.servers.Waiting;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;

/**
 * The topics and the database of one contender. All contenders read and write the same kinds of
 * topics.
 *
 * @param name distinguishes it from other shops on the same servers
 * @param servers where it is
 * @param database the contender's database
 */
public record Shop(String name, Servers servers, Database database) {

  /** The number of partitions of each topic, and so of shards. */
  public int partitions() {
    return servers.partitions();
  }

  /** Creates the topics and an empty database. */
  public static Shop open(String name, Servers servers) {
    Shop shop = new Shop(name, servers, servers.createDatabase(name.replace('-', '_')));
    shop.create(shop.created(), shop.paid(), shop.cancelled());
    get(
        () -> {
          servers.kafkaAdmin().incrementalAlterConfigs(shop.shortSession()).all().get();
          return 0;
        });
    return shop;
  }

  /** Creates topics. */
  public void create(String... topics) {
    get(
        () -> {
          servers
              .kafkaAdmin()
              .createTopics(
                  Stream.of(topics)
                      .map(topic -> new NewTopic(topic, partitions(), (short) 1))
                      .toList())
              .all()
              .get();
          return 0;
        });
  }

  /** The settings that the service's documents recommend for a quick takeover. */
  private Map<ConfigResource, Collection<AlterConfigOp>> shortSession() {
    return Map.of(
        new ConfigResource(ConfigResource.Type.GROUP, group()),
        Stream.of(
                new ConfigEntry("consumer.session.timeout.ms", "6000"),
                new ConfigEntry("consumer.heartbeat.interval.ms", "1500"))
            .map(entry -> new AlterConfigOp(entry, AlterConfigOp.OpType.SET))
            .toList());
  }

  /**
   * Has Kafka keep the times of producers in the topics of orders and payments, and all records.
   */
  void keepProducersTimes() {
    List<AlterConfigOp> settings =
        Stream.of(
                new ConfigEntry(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "CreateTime"),
                new ConfigEntry(TopicConfig.RETENTION_MS_CONFIG, "-1"))
            .map(entry -> new AlterConfigOp(entry, AlterConfigOp.OpType.SET))
            .toList();
    get(
        () -> {
          servers
              .kafkaAdmin()
              .incrementalAlterConfigs(
                  Map.of(
                      new ConfigResource(ConfigResource.Type.TOPIC, created()), settings,
                      new ConfigResource(ConfigResource.Type.TOPIC, paid()), settings))
              .all()
              .get();
          return 0;
        });
  }

  /** The topic of created orders. */
  public String created() {
    return topic("order-created");
  }

  /** The topic of payments. */
  public String paid() {
    return topic("order-paid");
  }

  /** The topic of cancelled orders. */
  public String cancelled() {
    return topic("order-cancelled");
  }

  /** The name of a topic of this shop. */
  public String topic(String kind) {
    return name + "." + kind;
  }

  /** The consumer group of the contender. */
  public String group() {
    return name;
  }

  /** The number of records in a topic. */
  public long records(String topic) {
    return get(
        () -> {
          Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
          for (int partition = 0; partition < partitions(); partition++) {
            ends.put(new TopicPartition(topic, partition), OffsetSpec.latest());
          }
          return servers.kafkaAdmin().listOffsets(ends).all().get().values().stream()
              .mapToLong(ListOffsetsResultInfo::offset)
              .sum();
        });
  }

  /** The number of records in a topic up to which the contender has committed its progress. */
  public long recordsRead(String topic) {
    return get(
        () ->
            servers
                .kafkaAdmin()
                .listConsumerGroupOffsets(group())
                .partitionsToOffsetAndMetadata()
                .get()
                .entrySet()
                .stream()
                .filter(entry -> entry.getKey().topic().equals(topic) && entry.getValue() != null)
                .mapToLong(entry -> entry.getValue().offset())
                .sum());
  }

  /** Returns whether the contender has committed its progress behind all of a topic's records. */
  public boolean awaitRead(String topic, Duration patience) {
    long all = records(topic);
    return Waiting.until(() -> recordsRead(topic) >= all, patience);
  }

  private static long get(Question question) {
    try {
      return question.ask();
    } catch (ExecutionException e) {
      throw new IllegalStateException("Kafka does not answer", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @FunctionalInterface
  private interface Question {
    long ask() throws ExecutionException, InterruptedException;
  }
}
