package io.ordertimeout.orders.intake.decoding;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/**
 * Where an event was first: in its record or, if that is a replay of a dead letter, in the record
 * that became the dead letter. What an event leaves out follows from its origin, so a replay says
 * what its origin would have said, however often and however late it is published.
 *
 * <p>The headers of a replay tell its origin. Whoever could forge them could as well state the time
 * and the id of a payment in the event.
 *
 * @param timestampMillis the timestamp of the record
 */
public record RecordOrigin(String topic, int partition, long offset, long timestampMillis) {

  private static final String TOPIC = "x-origin-topic";
  private static final String PARTITION = "x-origin-partition";
  private static final String OFFSET = "x-origin-offset";
  private static final String TIMESTAMP = "x-origin-timestamp";
  private static final String KEY = "x-origin-key";

  /** Kafka's limit. */
  private static final int MAX_TOPIC = 249;

  /** Returns the origin of an event; without usable headers of a replay, that is its record. */
  static RecordOrigin of(ConsumerRecord<?, ?> record) {
    RecordOrigin own =
        new RecordOrigin(record.topic(), record.partition(), record.offset(), record.timestamp());
    String topic = RecordFormat.header(record, TOPIC);
    String partition = RecordFormat.header(record, PARTITION);
    String offset = RecordFormat.header(record, OFFSET);
    String timestamp = RecordFormat.header(record, TIMESTAMP);
    if (topic == null || topic.length() > MAX_TOPIC || partition == null || offset == null) {
      return own;
    }
    try {
      return new RecordOrigin(
          topic,
          Integer.parseInt(partition),
          Long.parseLong(offset),
          timestamp == null ? own.timestampMillis : Long.parseLong(timestamp));
    } catch (NumberFormatException e) {
      return own;
    }
  }

  /**
   * Adds the origin of a dead letter to the headers of its replay, unless they have one: the dead
   * letter was a replay itself.
   *
   * @param deadLetter a dead letter of this service; another one has no origin
   */
  public static void copy(ConsumerRecord<byte[], byte[]> deadLetter, Headers replay) {
    if (replay.lastHeader(TOPIC) != null) {
      return;
    }
    copy(deadLetter, "x-topic", replay, TOPIC);
    copy(deadLetter, "x-partition", replay, PARTITION);
    copy(deadLetter, "x-offset", replay, OFFSET);
    copy(deadLetter, "x-timestamp", replay, TIMESTAMP);
    if (deadLetter.key() != null) {
      replay.add(KEY, deadLetter.key());
    }
  }

  private static void copy(
      ConsumerRecord<?, ?> from, String header, Headers replay, String replayHeader) {
    Header found = from.headers().lastHeader(header);
    if (found != null) {
      replay.add(replayHeader, found.value());
    }
  }

  /** Returns the position as text, for the ids of payments that state none. */
  @Override
  public String toString() {
    return topic + "-" + partition + "-" + offset;
  }
}
