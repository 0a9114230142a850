package io.ordertimeout.orders.intake;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls the batches of a consumer. If the consumer cannot read the next record of a partition, it
 * does not say which one in any other way than in the text of its exception, and would fail for
 * all. The partitions are then polled one at a time, and their records are used as usual, until
 * that one is found. Confined to the consumer's thread.
 */
final class RecordPoller {

  private static final Logger log = LoggerFactory.getLogger(RecordPoller.class);

  /** Enough for a partition whose unreadable batch the consumer has already fetched. */
  private static final Duration SHORT = Duration.ofMillis(20);

  /** Enough for a batch that has to be fetched again, behind a fetch that waits for records. */
  private static final Duration LONG = Duration.ofSeconds(1);

  private final PaymentPriority all;
  private final Deque<TopicPartition> suspects = new ArrayDeque<>();
  private Duration patience = SHORT;

  /**
   * @param all polls all partitions
   */
  RecordPoller(PaymentPriority all) {
    this.all = all;
  }

  /**
   * Polls the next batch, which may be empty; waits for it at most that long.
   *
   * @param unreadable partitions that could not be read the last time
   * @throws UnreadablePartitionException if the next record of a partition cannot be read; that
   *     partition has to be paused before the next poll
   */
  ConsumerRecords<byte[], byte[]> poll(
      Consumer<byte[], byte[]> consumer, Duration timeout, Set<TopicPartition> unreadable) {
    TopicPartition suspect = nextSuspect(consumer);
    if (suspect != null) {
      return pollAlone(consumer, suspect);
    }
    try {
      return all.poll(consumer, timeout);
    } catch (KafkaException e) {
      if (!concernsRecords(e)) {
        throw e;
      }
      // If it fails even with nothing to read, the consumer has failed, and is replaced.
      PaymentPriority.pollWithout(consumer, consumer.assignment(), Duration.ZERO);
      log.debug("Looking for the partition whose records cannot be read: {}", e.toString());
      suspects.addAll(unreadable);
      suspects.addAll(consumer.assignment());
      return ConsumerRecords.empty();
    }
  }

  /**
   * Whether the exception may stem from the records of a partition. Whatever a broker answers has a
   * type of its own.
   */
  private static boolean concernsRecords(KafkaException e) {
    return !(e instanceof ApiException
        || e instanceof InvalidOffsetException
        || e instanceof WakeupException
        || e instanceof InterruptException);
  }

  private @Nullable TopicPartition nextSuspect(Consumer<byte[], byte[]> consumer) {
    if (suspects.isEmpty()) {
      return null;
    }
    Set<TopicPartition> readable = new HashSet<>(consumer.assignment());
    readable.removeAll(consumer.paused());
    TopicPartition next = suspects.poll();
    while (next != null && !readable.contains(next)) {
      next = suspects.poll();
    }
    if (next == null) {
      // None was found. If the failure comes back, each of them gets more time.
      patience = LONG;
    }
    return next;
  }

  private ConsumerRecords<byte[], byte[]> pollAlone(
      Consumer<byte[], byte[]> consumer, TopicPartition suspect) {
    Set<TopicPartition> others = new HashSet<>(consumer.assignment());
    others.remove(suspect);
    try {
      return PaymentPriority.pollWithout(consumer, others, patience);
    } catch (KafkaException e) {
      if (!concernsRecords(e)) {
        throw e;
      }
      suspects.clear();
      patience = SHORT;
      throw new UnreadablePartitionException(suspect, e);
    }
  }

  /** Ends the search, because the consumer is closed. */
  void reset() {
    suspects.clear();
    patience = SHORT;
  }
}
