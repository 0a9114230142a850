package io.ordertimeout.orders.relay;

import io.ordertimeout.orders.outbox.OutboxEvent;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The number of events that sweeps found in the outbox and that are not published yet, by shard. A
 * sweep reads all of them in any case; counting them in Postgres would read them again. Not
 * thread-safe.
 */
final class SweptEvents {

  /** Counts the events of a shard up to an id. */
  private static final class Count {
    private long upToId;
    private long events;
  }

  /** The counts of the last complete sweep. */
  private Map<Integer, Count> last = Map.of();

  /** The counts of the current sweep; the same as the last ones between two sweeps. */
  private Map<Integer, Count> current = last;

  void beginSweep() {
    current = new HashMap<>();
  }

  /** Counts an event that the current sweep found; a sweep finds the events of a shard by id. */
  void add(OutboxEvent event) {
    Count count = current.computeIfAbsent(event.shard(), shard -> new Count());
    count.upToId = event.id();
    count.events++;
  }

  void endSweep() {
    last = current;
  }

  /** Uncounts an event that is published. */
  void remove(OutboxEvent event) {
    remove(event, last);
    if (current != last) {
      remove(event, current);
    }
  }

  private static void remove(OutboxEvent event, Map<Integer, Count> counts) {
    Count count = counts.get(event.shard());
    if (count != null && event.id() <= count.upToId) {
      count.events--;
    }
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
