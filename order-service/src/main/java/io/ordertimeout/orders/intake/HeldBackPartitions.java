package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.platform.monitoring.StepHealth;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
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

/**
 * The partitions of one consumer that are paused at a record, because its dead letter is not
 * acknowledged yet, because most records of its topic are unusable, because it cannot be decoded at
 * present, or because it cannot even be read. Everything before the record is stored, and other
 * partitions are read. Confined to the consumer's thread.
 */
final class HeldBackPartitions {

  /** How often the records of a topic are looked at again that were mostly unusable. */
  private static final Duration UNUSABLE_TOPIC_RETRY = Duration.ofSeconds(5);

  /** How often a record is looked at again that could not be decoded because of an outage. */
  private static final Duration DECODING_RETRY = Duration.ofSeconds(1);

  /** How often a record is read again that could not be read. */
  private static final Duration READING_RETRY = Duration.ofSeconds(2);

  private static final Comparator<TopicPartition> BY_NAME =
      Comparator.comparing(TopicPartition::toString);

  private static final String DEAD_LETTER_CONSEQUENCE =
      "partitions with unusable records are not read on until their dead-letter topic accepts them";

  private static final String UNUSABLE_TOPIC_CONSEQUENCE =
      "most records of a topic are unusable; its partitions are not read on from their first unusable"
          + " record, and orders of these shards are not decided without their payments, until the"
          + " records can be used or an operator permits to turn them into dead letters";

  private static final String UNREADABLE_CONSEQUENCE =
      "the log of a partition is corrupt; the partition is not read on from that record, and orders of"
          + " its shard are not decided without its payments, until Kafka returns the record intact or"
          + " it is deleted from the log";

  private static final String DECODING_CONSEQUENCE =
      "partitions are not read on from the first record that cannot be decoded at present, and orders"
          + " of these shards are not decided without their payments";

  /**
   * A paused partition.
   *
   * @param offset the offset of the record
   * @param next where to read on
   * @param ready completes once it may be read on
   * @param cause why it is paused
   * @param problem what is wrong with its records
   */
  record HeldBack(
      long offset, long next, CompletableFuture<Void> ready, Cause cause, String problem) {

    enum Cause {
      DEAD_LETTER,
      UNUSABLE_TOPIC,
      DECODING_OUTAGE,
      UNREADABLE
    }

    /**
     * Holds a partition back until a dead letter is acknowledged.
     *
     * @param offset the offset of the unusable record
     * @param deadLettered completes once its dead letter is acknowledged
     */
    static HeldBack deadLetter(long offset, CompletableFuture<Void> deadLettered) {
      return new HeldBack(offset, offset + 1, deadLettered, Cause.DEAD_LETTER, "");
    }

    /**
     * Holds a partition back for a while, because most records of its topic are unusable.
     *
     * @param offset the offset of the first unusable record
     * @param problem why they are unusable
     */
    static HeldBack unusableTopic(long offset, String problem) {
      return readAgain(offset, UNUSABLE_TOPIC_RETRY, Cause.UNUSABLE_TOPIC, problem);
    }

    /**
     * Holds a partition back for a moment, because what decodes its records does not answer.
     *
     * @param offset the offset of the first record that was not decoded
     * @param problem why it was not
     */
    static HeldBack decodingOutage(long offset, String problem) {
      return readAgain(offset, DECODING_RETRY, Cause.DECODING_OUTAGE, problem);
    }

    /**
     * Holds a partition back for a moment, because its next record cannot be read.
     *
     * @param offset the offset of the record
     * @param problem why it cannot be read
     */
    static HeldBack unreadable(long offset, String problem) {
      return readAgain(offset, READING_RETRY, Cause.UNREADABLE, problem);
    }

    private static HeldBack readAgain(long offset, Duration after, Cause cause, String problem) {
      return new HeldBack(
          offset,
          offset,
          new CompletableFuture<Void>()
              .completeOnTimeout(null, after.toSeconds(), TimeUnit.SECONDS),
          cause,
          problem);
    }
  }

  /** The problems of partitions with one cause, also while their records are looked at again. */
  private static final class Problems {

    private final HeldBack.Cause cause;
    private final StepHealth step;
    private final String consequence;
    private volatile Map<TopicPartition, String> problems = Map.of();

    Problems(HeldBack.Cause cause, StepHealth step, String consequence) {
      this.cause = cause;
      this.step = step;
      this.consequence = consequence;
    }

    void update(Set<TopicPartition> advanced, Map<TopicPartition, HeldBack> more) {
      Map<TopicPartition, String> next = new TreeMap<>(BY_NAME);
      next.putAll(problems);
      next.keySet().removeAll(advanced);
      more.forEach(
          (partition, heldBack) -> {
            if (heldBack.cause == cause) {
              next.put(partition, heldBack.problem);
            }
          });
      remain(next);
      if (!next.isEmpty()) {
        step.failed(consequence, new UnusableRecordsException(next));
      }
    }

    void retain(Set<TopicPartition> assigned) {
      Map<TopicPartition, String> next = new TreeMap<>(BY_NAME);
      next.putAll(problems);
      next.keySet().retainAll(assigned);
      remain(next);
    }

    private void remain(Map<TopicPartition, String> next) {
      problems = next;
      if (next.isEmpty()) {
        step.succeeded();
      }
    }
  }

  private final StepHealth deadLetters;
  private final Problems unusableTopics;
  private final Problems decodingOutages;
  private final Problems unreadable;
  private final Map<TopicPartition, HeldBack> partitions = new HashMap<>();

  HeldBackPartitions(
      StepHealth deadLetters,
      StepHealth unusableTopics,
      StepHealth decoding,
      StepHealth unreadable) {
    this.deadLetters = deadLetters;
    this.unusableTopics =
        new Problems(HeldBack.Cause.UNUSABLE_TOPIC, unusableTopics, UNUSABLE_TOPIC_CONSEQUENCE);
    this.decodingOutages =
        new Problems(HeldBack.Cause.DECODING_OUTAGE, decoding, DECODING_CONSEQUENCE);
    this.unreadable = new Problems(HeldBack.Cause.UNREADABLE, unreadable, UNREADABLE_CONSEQUENCE);
  }

  /** Returns how many partitions of a topic are paused because it is unusable. Thread-safe. */
  int unusable(String topic) {
    return (int)
        unusableTopics.problems.keySet().stream()
            .filter(partition -> partition.topic().equals(topic))
            .count();
  }

  /** Returns the partitions that could not be read the last time. */
  Set<TopicPartition> unreadable() {
    return unreadable.problems.keySet();
  }

  /**
   * Pauses partitions at records.
   *
   * @param advanced the partitions that were read on, perhaps only because Kafka has deleted the
   *     records at which they were paused
   */
  void hold(
      Consumer<?, ?> consumer, Set<TopicPartition> advanced, Map<TopicPartition, HeldBack> more) {
    more.forEach(
        (partition, heldBack) -> {
          consumer.seek(partition, heldBack.offset);
          consumer.pause(List.of(partition));
          partitions.put(partition, heldBack);
        });
    unusableTopics.update(advanced, more);
    decodingOutages.update(advanced, more);
    unreadable.update(advanced, more);
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
            .filter(entry -> entry.getValue().cause == HeldBack.Cause.DEAD_LETTER)
            .map(Map.Entry::getKey)
            .toList();
    if (withDeadLetters.isEmpty()) {
      deadLetters.succeeded();
    } else {
      deadLetters.failed(
          DEAD_LETTER_CONSEQUENCE,
          new KafkaException("no dead letter accepted from " + withDeadLetters));
    }
    for (Problems problems : List.of(unusableTopics, decodingOutages, unreadable)) {
      if (!problems.problems.isEmpty()) {
        problems.retain(consumer.assignment());
      }
    }
  }

  private static boolean resume(
      Consumer<?, ?> consumer, TopicPartition partition, HeldBack heldBack) {
    try {
      // Elsewhere, it is paused for another reason, and is moved before it is resumed.
      if (consumer.position(partition, Duration.ZERO) == heldBack.offset) {
        if (heldBack.cause == HeldBack.Cause.UNREADABLE) {
          discardFetched(consumer, partition, heldBack.next);
        }
        consumer.seek(partition, heldBack.next);
        consumer.resume(List.of(partition));
      }
      return true;
    } catch (TimeoutException e) {
      return false; // the position is known after the next poll
    }
  }

  /**
   * Has the consumer fetch the partition anew: it keeps a batch that it could not read, unless its
   * position is elsewhere when it looks at the batch.
   */
  private static void discardFetched(
      Consumer<?, ?> consumer, TopicPartition partition, long offset) {
    Set<TopicPartition> others = new HashSet<>(consumer.assignment());
    others.remove(partition);
    others.removeAll(consumer.paused());
    consumer.seek(partition, offset + 1);
    consumer.pause(others);
    try {
      consumer.resume(List.of(partition));
      consumer.poll(Duration.ZERO);
    } finally {
      others.retainAll(consumer.assignment());
      consumer.resume(others);
    }
  }

  /** Ends all attempts, because the consumer is closed. */
  void close() {
    partitions.values().forEach(heldBack -> heldBack.ready.cancel(false));
    partitions.clear();
    unusableTopics.retain(Set.of());
    decodingOutages.retain(Set.of());
    unreadable.retain(Set.of());
  }
}
