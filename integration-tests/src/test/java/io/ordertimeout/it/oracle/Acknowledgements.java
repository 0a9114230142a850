package io.ordertimeout.it.oracle;

import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.RecordMetadata;

/** The acknowledgements that the shop's producers received from Kafka. Thread-safe. */
public final class Acknowledgements {

  private final Map<RecordPosition, Instant> times = new ConcurrentHashMap<>();
  private final Set<RecordPosition> committed = ConcurrentHashMap.newKeySet();
  private final AtomicInteger unknown = new AtomicInteger();

  /** Adds a record that Kafka acknowledged, within a transaction or outside one. */
  public void add(RecordMetadata metadata) {
    // A retried batch that Kafka already had may be acknowledged without its offset.
    if (metadata.hasOffset()) {
      times.put(position(metadata), Instant.now());
    } else {
      unknown.incrementAndGet();
    }
  }

  /** Marks an acknowledged record as readable by every consumer. */
  public void commit(RecordMetadata metadata) {
    if (metadata.hasOffset()) {
      committed.add(position(metadata));
    }
  }

  /** Counts a record whose result the producer does not know; only the log can tell. */
  public void addUnknown() {
    unknown.incrementAndGet();
  }

  /**
   * Returns the earliest time at which the record was certainly visible: its acknowledgement, or
   * the time at which it was read.
   */
  Instant visibleBy(RecordPosition position, Instant readAt) {
    Instant acknowledgedAt = times.getOrDefault(position, readAt);
    return acknowledgedAt.isBefore(readAt) ? acknowledgedAt : readAt;
  }

  Set<RecordPosition> committed() {
    return Collections.unmodifiableSet(committed);
  }

  int unknown() {
    return unknown.get();
  }

  private static RecordPosition position(RecordMetadata metadata) {
    return new RecordPosition(metadata.topic(), metadata.partition(), metadata.offset());
  }
}
