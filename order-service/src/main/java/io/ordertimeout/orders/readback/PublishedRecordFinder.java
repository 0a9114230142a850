package io.ordertimeout.orders.readback;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.KafkaConsumers;
import io.ordertimeout.orders.relay.AvroEvents;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Finds the records of published events in Kafka, because their positions are not stored.
 * Thread-safe.
 */
@Component
public class PublishedRecordFinder {

  /** The kinds of published events. */
  public enum Kind {
    /** The cancellation of an order. */
    CANCELLATION,
    /** A payment that met the order after it was cancelled or closed. */
    CONFLICT
  }

  /**
   * A published event.
   *
   * @param kind its kind
   * @param orderId its order
   * @param eventId its id
   * @param createdAt when it was written to the outbox
   * @param publishedAt when Kafka acknowledged it
   */
  public record Event(
      Kind kind, String orderId, UUID eventId, Instant createdAt, Instant publishedAt) {}

  /**
   * The result of a search.
   *
   * @param topic the topic of the event
   * @param partition the partition of its record; null if it was not found
   * @param offset the offset of its record; null if it was not found
   * @param problem why it was not found; null if it was
   */
  public record Found(
      String topic, @Nullable Integer partition, @Nullable Long offset, @Nullable String problem) {}

  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final Duration POLL_TIMEOUT = Duration.ofMillis(200);
  private static final int MAX_RECORDS = 200_000;

  /** By how much the clocks of Postgres and Kafka's producer may differ. */
  private static final Duration MAX_CLOCK_DIFFERENCE = Duration.ofMinutes(1);

  private static final String DELETED = "not found: Kafka's retention has probably deleted it";
  private static final String TOO_MANY =
      "not found within %,d records or %d seconds".formatted(MAX_RECORDS, TIMEOUT.toSeconds());

  private final KafkaConsumers consumers;
  private final OrderTimeoutProperties.Topics topics;

  PublishedRecordFinder(KafkaConsumers consumers, OrderTimeoutProperties properties) {
    this.consumers = consumers;
    this.topics = properties.topics();
  }

  /**
   * Finds the records of events, one after the other. All searches of a call share the limits of
   * records and time.
   *
   * @return a result for each event
   * @throws KafkaException if Kafka does not answer
   */
  public List<Found> find(List<Event> events) {
    if (events.isEmpty()) {
      return List.of();
    }
    try (Search search = new Search(consumers.createStandalone())) {
      return events.stream().map(search::find).toList();
    }
  }

  private String topic(Kind kind) {
    return kind == Kind.CANCELLATION ? topics.cancelled() : topics.conflict();
  }

  /** The searches of one call. */
  private final class Search implements AutoCloseable {

    private final Consumer<byte[], byte[]> consumer;
    private final long deadline = System.nanoTime() + TIMEOUT.toNanos();
    private int records;

    Search(Consumer<byte[], byte[]> consumer) {
      this.consumer = consumer;
    }

    Found find(Event event) {
      String topic = topic(event.kind());
      if (isExhausted()) {
        return new Found(topic, null, null, TOO_MANY);
      }
      // All partitions, because partitions may have been added since.
      Map<TopicPartition, Long> unread = begin(topic, event.createdAt());
      while (!unread.isEmpty()) {
        if (isExhausted()) {
          return new Found(topic, null, null, TOO_MANY);
        }
        ConsumerRecord<byte[], byte[]> record = next(event, unread);
        if (record != null) {
          return new Found(topic, record.partition(), record.offset(), null);
        }
      }
      return new Found(topic, null, null, DELETED);
    }

    private boolean isExhausted() {
      return records >= MAX_RECORDS || System.nanoTime() - deadline > 0;
    }

    /** Starts to read a topic at a time; returns the ends of the partitions to read. */
    private Map<TopicPartition, Long> begin(String topic, Instant createdAt) {
      List<TopicPartition> all =
          consumer.partitionsFor(topic, TIMEOUT).stream()
              .map(partition -> new TopicPartition(topic, partition.partition()))
              .toList();
      // Assigned first, because the consumer warns about partitions that are not assigned.
      consumer.assign(all);
      long from = createdAt.minus(MAX_CLOCK_DIFFERENCE).toEpochMilli();
      Map<TopicPartition, OffsetAndTimestamp> starts =
          consumer.offsetsForTimes(
              all.stream().collect(Collectors.toMap(Function.identity(), partition -> from)),
              TIMEOUT);
      Map<TopicPartition, Long> ends = new HashMap<>(consumer.endOffsets(all, TIMEOUT));
      ends.keySet().removeIf(partition -> starts.get(partition) == null);
      consumer.assign(ends.keySet());
      ends.keySet().forEach(partition -> seek(partition, starts.get(partition)));
      return ends;
    }

    private void seek(TopicPartition partition, @Nullable OffsetAndTimestamp start) {
      if (start != null) {
        consumer.seek(partition, start.offset());
      }
    }

    /** Reads on; returns the event's record if it is among those read. */
    private @Nullable ConsumerRecord<byte[], byte[]> next(
        Event event, Map<TopicPartition, Long> unread) {
      Schema schema =
          event.kind() == Kind.CANCELLATION ? AvroEvents.CANCELLED : AvroEvents.CONFLICT;
      long to = event.publishedAt().plus(MAX_CLOCK_DIFFERENCE).toEpochMilli();
      Set<TopicPartition> read = new HashSet<>();
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL_TIMEOUT)) {
        records++;
        if (PublishedRecords.isEvent(record, schema, event.orderId(), event.eventId())) {
          return record;
        }
        if (record.timestamp() > to) {
          read.add(new TopicPartition(record.topic(), record.partition()));
        }
      }
      unread.forEach(
          (partition, end) -> {
            if (consumer.position(partition) >= end) {
              read.add(partition);
            }
          });
      consumer.pause(read);
      unread.keySet().removeAll(read);
      return null;
    }

    @Override
    public void close() {
      consumer.close();
    }
  }
}
