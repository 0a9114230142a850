package io.ordertimeout.orders.benchmarks.traffic;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Reads a shop's cancellations, from now on, and passes them to the judge. */
final class CancellationReader implements AutoCloseable {

  private static final Duration POLL = Duration.ofSeconds(1);

  private final Judge judge;
  private final KafkaConsumer<String, byte[]> consumer;
  private final Thread thread = new Thread(this::read, "cancellation-reader");

  /** Begins to read. */
  CancellationReader(Shop shop, Judge judge) {
    this.judge = judge;
    this.consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, shop.servers().bootstrapServers(),
                ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "50",
                ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "10000"),
            new StringDeserializer(),
            new ByteArrayDeserializer());
    List<TopicPartition> partitions =
        IntStream.range(0, shop.partitions())
            .mapToObj(partition -> new TopicPartition(shop.cancelled(), partition))
            .toList();
    consumer.assign(partitions);
    consumer.seekToEnd(partitions);
    partitions.forEach(consumer::position); // Kafka is asked for the ends only now
    thread.setDaemon(true);
    thread.start();
  }

  private void read() {
    try (consumer) {
      while (true) {
        for (ConsumerRecord<String, byte[]> event : consumer.poll(POLL)) {
          judge.cancelled(OrderIds.number(event.key()), event.timestamp());
        }
      }
    } catch (WakeupException e) {
      // Closed.
    }
  }

  @Override
  public void close() {
    consumer.wakeup();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
