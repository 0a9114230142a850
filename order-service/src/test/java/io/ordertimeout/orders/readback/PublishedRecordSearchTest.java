package io.ordertimeout.orders.readback;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.outbox.EventId;
import io.ordertimeout.orders.outbox.OutboxEvent.Envelope;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.readback.PublishedRecordFinder.Event;
import io.ordertimeout.orders.readback.PublishedRecordFinder.Found;
import io.ordertimeout.orders.readback.PublishedRecordFinder.Kind;
import io.ordertimeout.orders.relay.Serializers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The search is bounded, and reads all partitions within its bounds. */
class PublishedRecordSearchTest {

  private static final Instant TIME = Instant.parse("2026-05-01T12:00:00Z");
  private static final String TOPIC = "cancelled";
  private static final Event EVENT =
      new Event(
          Kind.CANCELLATION, "k-631", EventId.ofCancellation("k-631"), TIME, TIME.plusSeconds(1));

  private static final byte[] OTHER = "k-632".getBytes(StandardCharsets.UTF_8);

  /** A consumer of two partitions that finds offsets by time. */
  private static final class TimedConsumer extends MockConsumer<byte[], byte[]> {

    private final Map<TopicPartition, Long> ends = new HashMap<>();
    private Instant from = Instant.MAX;

    TimedConsumer() {
      super("earliest");
      Node[] none = {};
      updatePartitions(
          TOPIC,
          List.of(
              new PartitionInfo(TOPIC, 0, Node.noNode(), none, none),
              new PartitionInfo(TOPIC, 1, Node.noNode(), none, none)));
      for (int partition = 0; partition < 2; partition++) {
        ends.put(new TopicPartition(TOPIC, partition), 0L);
      }
      updateBeginningOffsets(ends);
      updateEndOffsets(ends);
    }

    void contains(int partition, int count, Instant at, byte[] key, byte[] value) {
      TopicPartition to = new TopicPartition(TOPIC, partition);
      long first = ends.merge(to, (long) count, Long::sum) - count;
      updateEndOffsets(ends);
      schedulePollTask(
          () -> {
            for (long offset = first; offset < first + count; offset++) {
              addRecord(record(to, offset, at, key, value));
            }
          });
    }

    private static ConsumerRecord<byte[], byte[]> record(
        TopicPartition to, long offset, Instant at, byte[] key, byte[] value) {
      return new ConsumerRecord<>(
          to.topic(),
          to.partition(),
          offset,
          at.toEpochMilli(),
          TimestampType.CREATE_TIME,
          key.length,
          value.length,
          key,
          value,
          new RecordHeaders(),
          Optional.empty());
    }

    @Override
    public synchronized Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(
        Map<TopicPartition, Long> times, Duration timeout) {
      Map<TopicPartition, OffsetAndTimestamp> offsets = new HashMap<>();
      times.forEach(
          (partition, time) -> {
            from = Instant.ofEpochMilli(time);
            offsets.put(
                partition,
                ends.getOrDefault(partition, 0L) == 0 ? null : new OffsetAndTimestamp(0, time));
          });
      return offsets;
    }
  }

  private final TimedConsumer consumer = new TimedConsumer();
  private final PublishedRecordSearch search =
      new PublishedRecordSearch(
          consumer,
          new OrderTimeoutProperties.Topics(
              "created", "paid", "closed", TOPIC, "conflict", ".dlt", false, 2, (short) 1));

  @AfterEach
  void close() {
    search.close();
  }

  @Test
  void findsTheRecordInAnyPartition() {
    consumer.contains(0, 3, TIME, OTHER, value());
    consumer.contains(1, 2, TIME, OTHER, value());
    consumer.contains(1, 1, TIME, key(), value());

    assertThat(search.find(EVENT)).isEqualTo(new Found(TOPIC, 1, 2L, null));
    assertThat(consumer.from).isEqualTo(TIME.minusSeconds(60));
  }

  @Test
  void aPartitionIsReadUpToAMinuteAfterThePublication() {
    consumer.contains(0, 1, TIME.plusSeconds(62), OTHER, value());
    consumer.contains(0, 1, TIME.plusSeconds(62), key(), value());
    consumer.contains(1, 1, TIME.plusSeconds(60), OTHER, value());

    assertThat(search.find(EVENT))
        .isEqualTo(new Found(TOPIC, null, null, PublishedRecordSearch.DELETED));
  }

  @Test
  void aPartitionThatWasReadIsReadAgainForTheNextEvent() {
    consumer.contains(0, 1, TIME.plusSeconds(62), OTHER, value());
    assertThat(search.find(EVENT).problem()).isEqualTo(PublishedRecordSearch.DELETED);

    consumer.contains(0, 1, TIME, key(), value());
    assertThat(search.find(EVENT)).isEqualTo(new Found(TOPIC, 0, 1L, null));
  }

  @Test
  void allSearchesShareTheLimitOfRecords() {
    consumer.contains(0, PublishedRecordSearch.MAX_RECORDS, TIME, OTHER, value());
    consumer.contains(0, 1, TIME, key(), value());
    Found tooMany = new Found(TOPIC, null, null, PublishedRecordSearch.TOO_MANY);

    assertThat(search.find(EVENT)).isEqualTo(tooMany);
    consumer.contains(1, 1, TIME, key(), value());
    assertThat(search.find(EVENT)).isEqualTo(tooMany);
  }

  private static byte[] key() {
    return published().key();
  }

  private static byte[] value() {
    return published().value();
  }

  private static ProducerRecord<byte[], byte[]> published() {
    return Serializers.of("binary")
        .serialize(
            new OrderCancelled(
                new Envelope(7, "k-631", 2, null, TIME), TIME.minusSeconds(60), TIME, TIME));
  }
}
