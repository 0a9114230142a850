package io.ordertimeout.orders.relay;

import io.ordertimeout.orders.outbox.OutboxEvent;
import java.util.HashSet;
import java.util.Set;

/**
 * The events of the outbox that Kafka rejected for their content. An event remains here until Kafka
 * accepts it, or until a whole sweep of the outbox no longer finds it. Not thread-safe.
 */
final class RejectedEvents {

  private final Set<OutboxEvent.Key> rejected = new HashSet<>();

  /** Those that the current sweep has found. */
  private final Set<OutboxEvent.Key> found = new HashSet<>();

  /** Records that Kafka rejected the event. */
  void add(OutboxEvent event) {
    rejected.add(event.key());
  }

  /** Records that Kafka accepted the event. */
  void remove(OutboxEvent event) {
    rejected.remove(event.key());
  }

  boolean isEmpty() {
    return rejected.isEmpty();
  }

  /** Records that a sweep of the outbox begins. */
  void beginSweep() {
    found.clear();
  }

  /** Records that the current sweep has found the event in the outbox. */
  void find(OutboxEvent event) {
    if (rejected.contains(event.key())) {
      found.add(event.key());
    }
  }

  /** Forgets the events that the current sweep has not found. */
  void endSweep() {
    rejected.retainAll(found);
  }
}
