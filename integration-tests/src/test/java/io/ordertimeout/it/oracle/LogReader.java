package io.ordertimeout.it.oracle;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/** Reads what is committed in the log, from its beginning, into the books. Thread-safe. */
final class LogReader implements AutoCloseable {

  private final Consumer<byte[], byte @Nullable []> consumer;
  private final Books books;
  private final Map<TopicPartition, Long> positions = new ConcurrentHashMap<>();
  private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
  private final Thread thread = new Thread(this::run, "log-reader");
  private volatile boolean closed;

  private LogReader(Consumer<byte[], byte @Nullable []> consumer, Books books) {
    this.consumer = consumer;
    this.books = books;
  }

  static LogReader start(
      String bootstrapServers, Collection<TopicPartition> partitions, Books books) {
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
    LogReader reader = new LogReader(consumer, books);
    reader.thread.start();
    return reader;
  }

  private void run() {
    try (consumer) {
      while (!closed) {
        read();
      }
    } catch (WakeupException e) {
      // closed
    } catch (RuntimeException e) {
      failure.set(e);
    }
  }

  private void read() {
    try {
      consumer.poll(Duration.ofMillis(500)).forEach(books::add);
      // Past transaction markers, which are not records.
      for (TopicPartition partition : consumer.assignment()) {
        positions.put(partition, consumer.position(partition));
      }
    } catch (TimeoutException e) {
      // Kafka is away; it goes on when it is back.
    }
  }

  /** Whether everything below those offsets is in the books. */
  boolean hasRead(Map<TopicPartition, Long> ends) {
    RuntimeException thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("the log could not be read", thrown);
    }
    return ends.entrySet().stream()
        .allMatch(end -> positions.getOrDefault(end.getKey(), 0L) >= end.getValue());
  }

  @Override
  public void close() {
    closed = true;
    consumer.wakeup();
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
