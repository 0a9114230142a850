package io.ordertimeout.orders.readback;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.readback.PublishedRecordFinder.Event;
import io.ordertimeout.orders.readback.PublishedRecordFinder.Found;
import io.ordertimeout.orders.readback.PublishedRecordFinder.Kind;
import io.ordertimeout.orders.relay.AvroEvents;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Searches the output topics for records, within one limit of records and time. Closes its
 * consumer. Not thread-safe.
 */
final class PublishedRecordSearch implements AutoCloseable {

  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final Duration POLL_TIMEOUT = Duration.ofMillis(200);
  static final int MAX_RECORDS = 200_000;

  /** By how much the clocks of Postgres and Kafka's producer may differ. */
  private static final Duration MAX_CLOCK_DIFFERENCE = Duration.ofMinutes(1);

  static final String DELETED = "not found: Kafka's retention has probably deleted it";
  static final String TOO_MANY =
      String.format(
          Locale.ROOT,
          "not found within %,d records or %d seconds",
          MAX_RECORDS,
          TIMEOUT.toSeconds());

  private final Consumer<byte[], byte[]> consumer;
  private final OrderTimeoutProperties.Topics topics;
  private final long deadline = System.nanoTime() + TIMEOUT.toNanos();
  private int records;

  PublishedRecordSearch(Consumer<byte[], byte[]> consumer, OrderTimeoutProperties.Topics topics) {
    this.consumer = consumer;
    this.topics = topics;
  }

  Found find(Event event) {
    String topic = event.kind() == Kind.CANCELLATION ? topics.cancelled() : topics.conflict();
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
    // The search before this one has paused those that it had read.
    consumer.resume(ends.keySet());
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
    Schema schema = event.kind() == Kind.CANCELLATION ? AvroEvents.CANCELLED : AvroEvents.CONFLICT;
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
