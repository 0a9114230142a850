package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.platform.monitoring.StepHealth;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * The partitions of one consumer that are paused at an unusable record, because its dead letter is
 * not acknowledged yet. Everything before the record is stored, and other partitions are read.
 * Confined to the consumer's thread.
 */
final class HeldBackPartitions {

  private static final String CONSEQUENCE =
      "partitions with unusable records are not read on until their dead-letter topic accepts them";

  /**
   * A paused partition.
   *
   * @param offset the offset of the unusable record
   * @param deadLettered completes once its dead letter is acknowledged
   */
  record HeldBack(long offset, CompletableFuture<Void> deadLettered) {}

  private final StepHealth step;
  private final Map<TopicPartition, HeldBack> partitions = new HashMap<>();

  HeldBackPartitions(StepHealth step) {
    this.step = step;
  }

  /** Pauses partitions at their unusable records. */
  void hold(Consumer<?, ?> consumer, Map<TopicPartition, HeldBack> more) {
    more.forEach(
        (partition, heldBack) -> {
          consumer.seek(partition, heldBack.offset);
          consumer.pause(List.of(partition));
          partitions.put(partition, heldBack);
        });
  }

  /** Resumes the partitions whose dead letters are acknowledged, behind their unusable records. */
  void resume(Consumer<?, ?> consumer) {
    for (Iterator<Map.Entry<TopicPartition, HeldBack>> entries = partitions.entrySet().iterator();
        entries.hasNext(); ) {
      Map.Entry<TopicPartition, HeldBack> entry = entries.next();
      TopicPartition partition = entry.getKey();
      HeldBack heldBack = entry.getValue();
      if (!consumer.paused().contains(partition)) {
        // It was assigned again meanwhile, and is read from its stored position.
        heldBack.deadLettered.cancel(false);
        entries.remove();
      } else if (heldBack.deadLettered.isDone() && resume(consumer, partition, heldBack.offset)) {
        entries.remove();
      }
    }
    if (partitions.isEmpty()) {
      step.succeeded();
    } else {
      step.failed(
          CONSEQUENCE, new KafkaException("no dead letter accepted from " + partitions.keySet()));
    }
  }

  private static boolean resume(Consumer<?, ?> consumer, TopicPartition partition, long offset) {
    try {
      // Elsewhere, it is paused for another reason, and is moved before it is resumed.
      if (consumer.position(partition, Duration.ZERO) == offset) {
        consumer.seek(partition, offset + 1);
        consumer.resume(List.of(partition));
      }
      return true;
    } catch (TimeoutException e) {
      return false; // the position is known after the next poll
    }
  }

  /** Ends all attempts, because the consumer is closed. */
  void close() {
    partitions.values().forEach(heldBack -> heldBack.deadLettered.cancel(false));
    partitions.clear();
  }
}
