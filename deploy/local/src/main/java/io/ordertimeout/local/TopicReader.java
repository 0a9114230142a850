package io.ordertimeout.local;

import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads all topics into {@link OrderStatistics}, independently of the service and without a
 * consumer group. Starts some time before this run: an order may have been paid during the previous
 * run and be cancelled wrongly during this one.
 */
final class TopicReader implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TopicReader.class);

  /** The service creates its topics meanwhile. */
  private static final int ROUNDS_WITHOUT_A_WARNING = 100;

  private final OrderStatistics statistics;
  private final List<String> topics;
  private final long startMillis;
  private final long lookBackMillis;
  private final Consumer<String, byte[]> consumer;
  private final JsonMapper json = JsonMapper.shared();
  private final Thread thread = new Thread(this::run, "topic-reader");
  private volatile boolean closed;

  TopicReader(
      String bootstrapServers,
      OrderStatistics statistics,
      List<String> topics,
      long startMillis,
      Duration lookBack) {
    this.statistics = statistics;
    this.topics = topics;
    this.startMillis = startMillis;
    this.lookBackMillis = lookBack.toMillis();
    this.consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers,
                ConsumerConfig.CLIENT_ID_CONFIG, "topic-reader",
                ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed",
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
                ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false),
            new StringDeserializer(),
            new ByteArrayDeserializer());
  }

  void start() {
    thread.start();
  }

  private void run() {
    try (consumer) {
      assign();
      while (!closed) {
        for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofMillis(500))) {
          read(record);
        }
      }
    } catch (WakeupException e) {
      // close() was called.
    } catch (KafkaException e) {
      log.error("Reading the topics failed; the report no longer changes", e);
    }
  }

  private void assign() {
    List<TopicPartition> partitions = partitions();
    int rounds = 0;
    while (partitions.isEmpty() && !closed) {
      rounds++;
      if (rounds == ROUNDS_WITHOUT_A_WARNING) {
        log.warn(
            "The report waits for topics that do not exist, among {}. For a service that does not"
                + " read payment attempts and changes, set --local.traffic.all-topics=false",
            topics);
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
      partitions = partitions();
    }
    consumer.assign(partitions);
    // Ask for the ends first: a record appended between the two calls is then found by its time.
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    Map<TopicPartition, Long> times = new HashMap<>();
    for (TopicPartition partition : partitions) {
      boolean input = !Topics.OUTPUTS.contains(partition.topic());
      times.put(partition, input ? startMillis - lookBackMillis : startMillis);
    }
    Map<TopicPartition, OffsetAndTimestamp> offsets = consumer.offsetsForTimes(times);
    for (TopicPartition partition : partitions) {
      OffsetAndTimestamp found = offsets.get(partition);
      consumer.seek(partition, found == null ? ends.getOrDefault(partition, 0L) : found.offset());
    }
  }

  /** Returns all partitions of all topics, or none while a topic is missing. */
  private List<TopicPartition> partitions() {
    Map<String, List<PartitionInfo>> existing = consumer.listTopics();
    if (!existing.keySet().containsAll(topics)) {
      return List.of();
    }
    List<TopicPartition> partitions = new ArrayList<>();
    for (String topic : topics) {
      for (PartitionInfo info : existing.getOrDefault(topic, List.of())) {
        partitions.add(new TopicPartition(topic, info.partition()));
      }
    }
    return partitions;
  }

  private void read(ConsumerRecord<String, byte[]> record) {
    String orderId = record.key();
    if (orderId == null) {
      return;
    }
    switch (record.topic()) {
      case Topics.CREATED -> statistics.created(orderId, record.timestamp());
      case Topics.PAID -> statistics.paid(orderId, record.timestamp());
      case Topics.CLOSED -> statistics.closed(orderId, record.timestamp());
      case Topics.CONFLICT -> statistics.conflict();
      case Topics.ATTEMPTS -> statistics.attempted(orderId, record.timestamp());
      case Topics.EXPIRING -> statistics.warned();
      case Topics.CHANGED -> {
        // Its order is cancelled at another deadline.
      }
      default -> cancelled(orderId, record);
    }
  }

  private void cancelled(String orderId, ConsumerRecord<String, byte[]> record) {
    try {
      String deadline = json.readTree(record.value()).path("deadline").asString();
      statistics.cancelled(
          orderId, record.timestamp(), OffsetDateTime.parse(deadline).toInstant().toEpochMilli());
    } catch (JacksonException | DateTimeParseException e) {
      log.error("Cannot read the cancellation of order {}: {}", orderId, e.getMessage());
    }
  }

  @Override
  public void close() {
    closed = true;
    consumer.wakeup();
    try {
      thread.join(TimeUnit.SECONDS.toMillis(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
