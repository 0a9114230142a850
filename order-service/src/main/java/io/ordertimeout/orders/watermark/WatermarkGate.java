package io.ordertimeout.orders.watermark;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;

/**
 * The gate of one shard: the deadlines that wait for its payment watermark, and what is known of
 * its payments and closings. Not thread-safe.
 */
final class WatermarkGate {

  /** A deadline, and what to do with the watermark once it has passed the deadline. */
  record Waiter(Instant deadline, Consumer<Instant> then) {}

  /** Next offset that is not stored in Postgres, by partition of payments and closings. */
  final Map<TopicPartition, Long> stored = new HashMap<>();

  final List<Waiter> waiters = new ArrayList<>();

  /** Where the payments and closings ended when Kafka was last asked; empty once all is stored. */
  Map<TopicPartition, Long> ends = Map.of();

  /** A time before Kafka was asked for the ends. */
  Instant endsAsOf = Instant.MIN;

  Instant watermark = Instant.MIN;

  /** Whether Kafka has been asked and may not be asked again yet. */
  boolean asking;

  /** Whether Kafka did not answer the last question. */
  boolean inDoubt;

  boolean needsEnds() {
    return !waiters.isEmpty() && ends.isEmpty() && !asking;
  }

  boolean awaitsEnds() {
    return !ends.isEmpty();
  }

  /**
   * Raises the watermark if everything below the ends is stored.
   *
   * @return the waiters that the watermark has passed, in the order of their arrival
   */
  List<Waiter> advance() {
    boolean reached =
        !ends.isEmpty()
            && ends.entrySet().stream()
                .allMatch(end -> stored.getOrDefault(end.getKey(), -1L) >= end.getValue());
    if (!reached) {
      return List.of();
    }
    ends = Map.of();
    watermark = endsAsOf;
    List<Waiter> passed = waiters.stream().filter(w -> !w.deadline.isAfter(watermark)).toList();
    waiters.removeAll(passed);
    return passed;
  }
}
