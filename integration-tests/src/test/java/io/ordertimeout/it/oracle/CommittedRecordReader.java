package io.ordertimeout.it.oracle;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads all committed records of the topics from their beginning. A corrupt batch delays the
 * reading until it is restored. Thread-safe.
 */
final class CommittedRecordReader implements AutoCloseable {

  private static final long RETRY_MILLIS = 500;

  private final String bootstrapServers;
  private final List<TopicPartition> partitions;
  private final ObservedRecords records;
  private final Map<TopicPartition, Long> positions = new ConcurrentHashMap<>();
  private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
  private final AtomicReference<@Nullable Throwable> end = new AtomicReference<>();
  private final Thread thread = new Thread(this::run, "committed-record-reader");
  private final CountDownLatch closed = new CountDownLatch(1);

  private CommittedRecordReader(
      String bootstrapServers, Collection<TopicPartition> partitions, ObservedRecords records) {
    this.bootstrapServers = bootstrapServers;
    this.partitions = List.copyOf(partitions);
    this.records = records;
  }

  static CommittedRecordReader start(
      String bootstrapServers, Collection<TopicPartition> partitions, ObservedRecords records) {
    CommittedRecordReader reader = new CommittedRecordReader(bootstrapServers, partitions, records);
    reader.thread.start();
    return reader;
  }

  private void run() {
    try {
      do {
        try (Consumer<byte[], byte @Nullable []> consumer = open()) {
          while (closed.getCount() > 0) {
            read(consumer);
            failure.set(null);
          }
        } catch (KafkaException e) {
          // The consumer keeps a batch that it has found to be corrupt, so another one is needed.
          failure.set(e);
        }
      } while (!closed.await(RETRY_MILLIS, TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      end.set(e);
    }
  }

  /**
   * Fails if reading has ended, because a record is not what the traffic or the service sends.
   *
   * @throws AssertionError if it has
   */
  void requireRunning() {
    Throwable cause = end.get();
    if (cause != null) {
      throw new AssertionError("a record cannot be observed, and none after it", cause);
    }
  }

  private Consumer<byte[], byte @Nullable []> open() {
    Consumer<byte[], byte @Nullable []> consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrapServers,
                ConsumerConfig.ISOLATION_LEVEL_CONFIG,
                "read_committed",
                ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG,
                100,
                ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG,
                false),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    positions.forEach(consumer::seek);
    return consumer;
  }

  private void read(Consumer<byte[], byte @Nullable []> consumer) {
    try {
      ConsumerRecords<byte[], byte @Nullable []> polled = consumer.poll(Duration.ofMillis(500));
      Instant readAt = Instant.now();
      polled.forEach(record -> records.add(record, readAt));
      // The position is past transaction markers, which are not records.
      for (TopicPartition partition : consumer.assignment()) {
        positions.put(partition, consumer.position(partition));
      }
    } catch (TimeoutException e) {
      // Kafka is unavailable; reading resumes when it is back.
    }
  }

  /** Returns whether everything below those offsets was read. */
  boolean hasRead(Map<TopicPartition, Long> ends) {
    RuntimeException thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("the topics could not be read", thrown);
    }
    return ends.entrySet().stream()
        .allMatch(end -> positions.getOrDefault(end.getKey(), 0L) >= end.getValue());
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
