package io.ordertimeout.orders.relay;

import io.ordertimeout.orders.outbox.OutboxEvent;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What the sweeps of the outbox have found: how many events of each shard are not published, and
 * whether any of those was rejected by Kafka for its content. The results of the last complete
 * sweep count until the current one is complete. Not thread-safe.
 */
final class LeftBehind {

  private static final Comparator<OutboxEvent> BY_POSITION =
      Comparator.comparingLong(OutboxEvent::orderRow)
          .thenComparing(event -> event.key().paymentId());

  /** The events of a shard that were found. */
  private static final class Count {

    private OutboxEvent last;
    private Instant latest;
    private long events;

    Count(OutboxEvent first) {
      this.last = first;
      this.latest = first.envelope().writtenAt();
    }

    void add(OutboxEvent event) {
      events++;
      last = event;
      if (event.envelope().writtenAt().isAfter(latest)) {
        latest = event.envelope().writtenAt();
      }
    }

    /** Younger events are published without having been found. */
    boolean contains(OutboxEvent event) {
      return !event.envelope().writtenAt().isAfter(latest) && BY_POSITION.compare(event, last) <= 0;
    }
  }

  private Map<Integer, Count> last = new HashMap<>();
  private Map<Integer, Count> current = last;
  private final Set<OutboxEvent.Key> rejected = new HashSet<>();

  /** Those of them that the current sweep has found. */
  private final Set<OutboxEvent.Key> rejectedAndFound = new HashSet<>();

  void beginSweep() {
    current = new HashMap<>();
    rejectedAndFound.clear();
  }

  /** Counts an event that the current sweep has found; a sweep finds those of a shard in order. */
  void found(OutboxEvent event) {
    current.computeIfAbsent(event.shard(), shard -> new Count(event)).add(event);
    if (rejected.contains(event.key())) {
      rejectedAndFound.add(event.key());
    }
  }

  void endSweep() {
    last = current;
    rejected.retainAll(rejectedAndFound);
  }

  /** Records that Kafka rejected an event for its content. */
  void rejected(OutboxEvent event) {
    rejected.add(event.key());
    rejectedAndFound.add(event.key());
  }

  /** Uncounts an event that is published. */
  void published(OutboxEvent event) {
    rejected.remove(event.key());
    uncount(event, last);
    if (current != last) {
      uncount(event, current);
    }
  }

  private static void uncount(OutboxEvent event, Map<Integer, Count> counts) {
    Count count = counts.get(event.shard());
    if (count != null && count.contains(event)) {
      count.events--;
    }
  }

  /** Whether Kafka has rejected an event that is still left behind. */
  boolean isAnyRejected() {
    return !rejected.isEmpty();
  }

  /** Returns the number of events of those shards. */
  long count(Set<Integer> shards) {
    long sum = 0;
    for (int shard : shards) {
      sum += Math.max(count(shard, last), count(shard, current));
    }
    return sum;
  }

  private static long count(int shard, Map<Integer, Count> counts) {
    Count count = counts.get(shard);
    return count == null ? 0 : Math.max(0, count.events);
  }
}
