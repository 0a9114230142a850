package io.ordertimeout.orders.intake;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;

/**
 * Polls so that a backlog of creations does not delay decisions. A consumer returns the records
 * that it has fetched of one partition after the other, so tens of thousands of creations could
 * come before a payment that a watermark awaits. While one is awaited, every other batch is
 * therefore polled without creations. Confined to the consumer's thread.
 */
final class PaymentPriority {

  /** Longest wait for events of settling topics that Kafka contains. */
  private static final Duration PATIENCE = Duration.ofMillis(20);

  private final Predicate<String> settles;
  private final int batchSize;
  private final BooleanSupplier awaited;
  private boolean backlog;

  /**
   * @param settles whether a topic is a settling one
   * @param batchSize the number of records at which a batch is full
   * @param awaited whether events of settling topics that Kafka contains are awaited
   */
  PaymentPriority(Predicate<String> settles, int batchSize, BooleanSupplier awaited) {
    this.settles = settles;
    this.batchSize = batchSize;
    this.awaited = awaited;
  }

  /** Polls the next batch; waits for it at most that long. */
  ConsumerRecords<byte[], byte[]> poll(Consumer<byte[], byte[]> consumer, Duration timeout) {
    if (backlog && awaited.getAsBoolean()) {
      ConsumerRecords<byte[], byte[]> others = pollWithoutCreations(consumer);
      if (!others.isEmpty()) {
        backlog = false;
        return others;
      }
    }
    ConsumerRecords<byte[], byte[]> records = consumer.poll(timeout);
    backlog = records.count() >= batchSize;
    return records;
  }

  private ConsumerRecords<byte[], byte[]> pollWithoutCreations(Consumer<byte[], byte[]> consumer) {
    return pollWithout(
        consumer,
        consumer.assignment().stream()
            .filter(partition -> !settles.test(partition.topic()))
            .collect(Collectors.toSet()),
        PATIENCE);
  }

  /** Polls all partitions but those, and those that are paused anyway. */
  static ConsumerRecords<byte[], byte[]> pollWithout(
      Consumer<byte[], byte[]> consumer, Set<TopicPartition> partitions, Duration timeout) {
    Set<TopicPartition> left = new HashSet<>(partitions);
    left.removeAll(consumer.paused());
    try {
      change(consumer::pause, left);
      return consumer.poll(timeout);
    } finally {
      change(consumer::resume, left);
    }
  }

  private static void change(
      java.util.function.Consumer<Collection<TopicPartition>> change,
      Collection<TopicPartition> partitions) {
    try {
      change.accept(partitions);
    } catch (IllegalStateException e) {
      // The consumer's thread in the background has just given up one of several.
      if (partitions.size() > 1) {
        partitions.forEach(partition -> change(change, List.of(partition)));
      }
    }
  }
}
