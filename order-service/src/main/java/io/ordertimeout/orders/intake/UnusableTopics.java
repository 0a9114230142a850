package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.intake.decoding.DecodedRecord;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Finds the topics of which most records are unusable, for instance because a producer was deployed
 * with another format. They must not become dead letters unseen, so the partitions of such a topic
 * are not read on, each from its first unusable record, until most of the records can be used or an
 * operator permits the dead letters. Thread-safe.
 */
@Component
class UnusableTopics {

  /** A record and what it was decoded to. */
  record Decoded(ConsumerRecord<byte[], byte[]> record, DecodedRecord result) {

    TopicPartition partition() {
      return new TopicPartition(record.topic(), record.partition());
    }

    boolean isUnusable() {
      return result instanceof DecodedRecord.Undecodable;
    }

    boolean isUnusableOf(String topic) {
      return isUnusable() && record.topic().equals(topic);
    }

    String fault() {
      return result instanceof DecodedRecord.Undecodable undecodable ? undecodable.fault() : "";
    }
  }

  /**
   * The first unusable record of a partition.
   *
   * @param problem why it is unusable, and how many others are
   */
  record Unusable(long offset, String problem) {

    private static Unusable of(Decoded first, Count count) {
      long offset = first.record().offset();
      return new Unusable(
          offset,
          "%d of %d records at hand are unusable, the first at offset %d: %s"
              .formatted(count.unusable, count.records, offset, first.fault()));
    }
  }

  /** The records of a topic in a batch. */
  private static final class Count {
    private int records;
    private int unusable;
  }

  private static final Logger log = LoggerFactory.getLogger(UnusableTopics.class);

  private final UnusableShare share;
  private final IntakeStops stops;
  private final DatabaseClock clock;

  /** Until when unusable records of a topic become dead letters, as far as it is known here. */
  private final Map<String, Instant> permitted = new ConcurrentHashMap<>();

  UnusableTopics(IntakeStops stops, DatabaseClock clock, OrderTimeoutProperties properties) {
    this.share = new UnusableShare(properties.intake().unusableLimit());
    this.stops = stops;
    this.clock = clock;
  }

  /**
   * Returns the partitions that must not be read on, each with its first unusable record.
   *
   * @param batch the records at hand, in the order of their offsets
   */
  Map<TopicPartition, Unusable> stopsIn(List<Decoded> batch) {
    Map<TopicPartition, Unusable> stops = new HashMap<>();
    counts(batch)
        .forEach(
            (topic, count) -> {
              if (count.unusable > 0
                  && share.isExceeded(topic, count.unusable, count.records)
                  && !isPermitted(topic, count, batch)) {
                for (Decoded record : batch) {
                  if (record.isUnusableOf(topic)) {
                    stops.putIfAbsent(record.partition(), Unusable.of(record, count));
                  }
                }
              }
            });
    return stops;
  }

  /** Adds records that were taken in, or became dead letters. */
  void takenIn(List<Decoded> batch) {
    counts(batch)
        .forEach(
            (topic, count) -> {
              if (count.unusable > 0 && isKnownToBePermitted(topic)) {
                // What an operator has permitted must not stop the topic again afterwards.
                share.forget(topic);
              } else {
                share.add(topic, count.unusable, count.records);
              }
            });
  }

  private boolean isPermitted(String topic, Count count, List<Decoded> batch) {
    if (isKnownToBePermitted(topic)) {
      return true;
    }
    Decoded first =
        batch.stream().filter(record -> record.isUnusableOf(topic)).findFirst().orElseThrow();
    String position = first.partition() + "@" + first.record().offset();
    Instant until =
        stops.report(topic, count.unusable, count.records, position, first.fault()).orElse(null);
    if (until == null) {
      return false;
    }
    permitted.put(topic, until);
    log.warn(
        "Unusable records of {} become dead letters until {}, as an operator has permitted",
        topic,
        until);
    return true;
  }

  private boolean isKnownToBePermitted(String topic) {
    Instant until = permitted.get(topic);
    return until != null && clock.now().isBefore(until);
  }

  private static Map<String, Count> counts(List<Decoded> batch) {
    Map<String, Count> counts = new HashMap<>();
    for (Decoded record : batch) {
      Count count = counts.computeIfAbsent(record.record().topic(), topic -> new Count());
      count.records++;
      count.unusable += record.isUnusable() ? 1 : 0;
    }
    return counts;
  }
}
