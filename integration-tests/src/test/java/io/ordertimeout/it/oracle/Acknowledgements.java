package io.ordertimeout.it.oracle;

import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/** What Kafka told the shop that it has, and when. Thread-safe. */
public final class Acknowledgements {

  private final Map<Place, Instant> times = new ConcurrentHashMap<>();
  private final Set<Place> committed = ConcurrentHashMap.newKeySet();
  private final AtomicInteger unknown = new AtomicInteger();

  /** A record that is in Kafka, in a transaction or not. */
  public void add(RecordMetadata metadata) {
    // A repetition of a batch that Kafka had already may be acknowledged without its offset.
    if (metadata.hasOffset()) {
      times.put(place(metadata), Instant.now());
    } else {
      unknown.incrementAndGet();
    }
  }

  /** A record of which Kafka said that everybody can read it. */
  public void commit(RecordMetadata metadata) {
    if (metadata.hasOffset()) {
      committed.add(place(metadata));
    }
  }

  /** A record of which nobody knows; the log tells in the end. */
  public void doubt() {
    unknown.incrementAndGet();
  }

  @Nullable Instant at(Place place) {
    return times.get(place);
  }

  Set<Place> committed() {
    return Collections.unmodifiableSet(committed);
  }

  int unknown() {
    return unknown.get();
  }

  private static Place place(RecordMetadata metadata) {
    return new Place(metadata.topic(), metadata.partition(), metadata.offset());
  }
}
