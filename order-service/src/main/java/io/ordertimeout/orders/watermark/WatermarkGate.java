package io.ordertimeout.orders.watermark;

import io.ordertimeout.orders.order.Watermark;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The gate of one shard: the deadlines that wait for its payment watermark, and what is known of
 * its payments and closures. Not thread-safe.
 */
final class WatermarkGate {

  /**
   * A deadline, what to do with the watermark that was asked for on its behalf, and what to do if
   * the gate is discarded before.
   */
  record Waiter(Instant deadline, Consumer<Watermark> then, Runnable discarded) {}

  /**
   * How far the clock that wakes the orders may be ahead of Postgres's. A deadline that is further
   * ahead came from a clock that has been set back since. Waiting for it would keep back the orders
   * that came due with it.
   */
  private static final Duration LARGEST_ERROR = Duration.ofSeconds(1);

  /** Next offset that is not stored in Postgres, by partition of payments and closures. */
  final Map<TopicPartition, Long> stored = new HashMap<>();

  /** The deadlines that the next question will be for. */
  private List<Waiter> waiting = new ArrayList<>();

  /** The deadlines that were waiting when Kafka was asked. */
  private List<Waiter> asked = new ArrayList<>();

  /** The answer to the latest question; null before it, and once everything below it is stored. */
  @Nullable Watermark answer;

  /** The number of the question that Kafka was asked and that may not be repeated yet; else 0. */
  long question;

  /** Whether Kafka did not answer the last question. */
  boolean inDoubt;

  boolean needsEnds() {
    return question == 0 && answer == null && hasWaiters();
  }

  boolean awaitsEnds() {
    return answer != null;
  }

  boolean awaitsAllPartitions() {
    return answer != null && answer.allPartitions();
  }

  /** The partitions whose positions the answer awaits. */
  Set<TopicPartition> awaitedPartitions() {
    return answer == null ? Set.of() : answer.ends().keySet();
  }

  boolean hasWaiters() {
    return !waiting.isEmpty() || !asked.isEmpty();
  }

  Stream<Waiter> waiters() {
    return Stream.concat(asked.stream(), waiting.stream());
  }

  void add(Waiter waiter) {
    waiting.add(waiter);
  }

  /** Records that Kafka is about to be asked, on behalf of all deadlines that wait now. */
  void ask(long number) {
    question = number;
    asked.addAll(waiting);
    waiting = new ArrayList<>();
  }

  /**
   * Raises the watermark if everything below the ends is stored.
   *
   * @return the waiters that the watermark has passed, in the order of their arrival, and those
   *     that it will not pass for a long time
   */
  List<Waiter> advance() {
    Watermark watermark = answer;
    if (watermark == null || !isStored(watermark.ends())) {
      return List.of();
    }
    answer = null;
    List<Waiter> passed = new ArrayList<>();
    List<Waiter> ahead = new ArrayList<>();
    for (Waiter waiter : asked) {
      Duration remaining = Duration.between(watermark.time(), waiter.deadline);
      boolean soon = remaining.compareTo(LARGEST_ERROR) <= 0;
      (soon && remaining.compareTo(Duration.ZERO) > 0 ? ahead : passed).add(waiter);
    }
    asked = ahead;
    return passed;
  }

  private boolean isStored(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(end -> stored.getOrDefault(end.getKey(), -1L) >= end.getValue());
  }

  /** Returns the latest deadline that the last question was for and that still waits. */
  Optional<Instant> latestAsked() {
    return asked.stream().map(Waiter::deadline).max(Comparator.naturalOrder());
  }
}
