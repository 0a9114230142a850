package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.platform.monitoring.StepHealth;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The partitions of one consumer that are paused at an unusable record, because its dead letter is
 * not acknowledged yet, or because most records of its topic are unusable. Everything before the
 * record is stored, and other partitions are read. Confined to the consumer's thread.
 */
final class HeldBackPartitions {

  /** How often the records of a topic are looked at again that were mostly unusable. */
  private static final Duration UNUSABLE_TOPIC_RETRY = Duration.ofSeconds(5);

  private static final Comparator<TopicPartition> BY_NAME =
      Comparator.comparing(TopicPartition::toString);

  private static final String DEAD_LETTER_CONSEQUENCE =
      "partitions with unusable records are not read on until their dead-letter topic accepts them";

  private static final String UNUSABLE_TOPIC_CONSEQUENCE =
      "most records of a topic are unusable; its partitions are not read on from their first unusable"
          + " record, and orders of these shards are not decided without their payments, until the"
          + " records can be used or an operator permits to turn them into dead letters";

  /**
   * A paused partition.
   *
   * @param offset the offset of the unusable record
   * @param next where to read on
   * @param ready completes once it may be read on
   * @param problem why the records of its topic are unusable; null if only this record is
   */
  record HeldBack(long offset, long next, CompletableFuture<Void> ready, @Nullable String problem) {

    /**
     * Holds a partition back until a dead letter is acknowledged.
     *
     * @param offset the offset of the unusable record
     * @param deadLettered completes once its dead letter is acknowledged
     */
    static HeldBack deadLetter(long offset, CompletableFuture<Void> deadLettered) {
      return new HeldBack(offset, offset + 1, deadLettered, null);
    }

    /**
     * Holds a partition back for a while, because most records of its topic are unusable.
     *
     * @param offset the offset of the first unusable record
     * @param problem why they are unusable
     */
    static HeldBack unusableTopic(long offset, String problem) {
      return new HeldBack(
          offset,
          offset,
          new CompletableFuture<Void>()
              .completeOnTimeout(null, UNUSABLE_TOPIC_RETRY.toSeconds(), TimeUnit.SECONDS),
          problem);
    }
  }

  private final StepHealth deadLetters;
  private final StepHealth unusableTopics;
  private final Map<TopicPartition, HeldBack> partitions = new HashMap<>();

  /** The partitions of unusable topics and their problems, also while they are looked at again. */
  private volatile Map<TopicPartition, String> unusable = Map.of();

  HeldBackPartitions(StepHealth deadLetters, StepHealth unusableTopics) {
    this.deadLetters = deadLetters;
    this.unusableTopics = unusableTopics;
  }

  /** Returns how many partitions of a topic are paused because it is unusable. Thread-safe. */
  int unusable(String topic) {
    return (int)
        unusable.keySet().stream().filter(partition -> partition.topic().equals(topic)).count();
  }

  /**
   * Pauses partitions at their unusable records.
   *
   * @param advanced the partitions that were read on, perhaps only because Kafka has deleted the
   *     unusable records
   */
  void hold(
      Consumer<?, ?> consumer, Set<TopicPartition> advanced, Map<TopicPartition, HeldBack> more) {
    more.forEach(
        (partition, heldBack) -> {
          consumer.seek(partition, heldBack.offset);
          consumer.pause(List.of(partition));
          partitions.put(partition, heldBack);
        });
    Map<TopicPartition, String> problems = new TreeMap<>(BY_NAME);
    problems.putAll(unusable);
    problems.keySet().removeAll(advanced);
    more.forEach(
        (partition, heldBack) -> {
          if (heldBack.problem != null) {
            problems.put(partition, heldBack.problem);
          }
        });
    remain(problems);
    if (!problems.isEmpty()) {
      unusableTopics.failed(UNUSABLE_TOPIC_CONSEQUENCE, new UnusableRecordsException(problems));
    }
  }

  /** Resumes the partitions that may be read on. */
  void resume(Consumer<?, ?> consumer) {
    for (Iterator<Map.Entry<TopicPartition, HeldBack>> entries = partitions.entrySet().iterator();
        entries.hasNext(); ) {
      Map.Entry<TopicPartition, HeldBack> entry = entries.next();
      TopicPartition partition = entry.getKey();
      HeldBack heldBack = entry.getValue();
      if (!consumer.paused().contains(partition)) {
        // It was assigned again meanwhile, and is read from its stored position.
        heldBack.ready.cancel(false);
        entries.remove();
      } else if (heldBack.ready.isDone() && resume(consumer, partition, heldBack)) {
        entries.remove();
      }
    }
    List<TopicPartition> withDeadLetters =
        partitions.entrySet().stream()
            .filter(entry -> entry.getValue().problem == null)
            .map(Map.Entry::getKey)
            .toList();
    if (withDeadLetters.isEmpty()) {
      deadLetters.succeeded();
    } else {
      deadLetters.failed(
          DEAD_LETTER_CONSEQUENCE,
          new KafkaException("no dead letter accepted from " + withDeadLetters));
    }
    Map<TopicPartition, String> problems = new TreeMap<>(BY_NAME);
    problems.putAll(unusable);
    problems.keySet().retainAll(consumer.assignment());
    remain(problems);
  }

  private void remain(Map<TopicPartition, String> problems) {
    unusable = problems;
    if (problems.isEmpty()) {
      unusableTopics.succeeded();
    }
  }

  private static boolean resume(
      Consumer<?, ?> consumer, TopicPartition partition, HeldBack heldBack) {
    try {
      // Elsewhere, it is paused for another reason, and is moved before it is resumed.
      if (consumer.position(partition, Duration.ZERO) == heldBack.offset) {
        consumer.seek(partition, heldBack.next);
        consumer.resume(List.of(partition));
      }
      return true;
    } catch (TimeoutException e) {
      return false; // the position is known after the next poll
    }
  }

  /** Ends all attempts, because the consumer is closed. */
  void close() {
    partitions.values().forEach(heldBack -> heldBack.ready.cancel(false));
    partitions.clear();
    remain(Map.of());
  }
}
