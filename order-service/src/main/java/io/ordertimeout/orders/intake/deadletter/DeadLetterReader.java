package io.ordertimeout.orders.intake.deadletter;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.KafkaConsumers;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The dead letters, read back from their topics: listed, looked at, and published again where they
 * came from. Each question reads with a consumer of its own, which belongs to no group.
 * Thread-safe.
 */
@Component
public class DeadLetterReader {

  /**
   * A dead letter.
   *
   * @param topic the dead-letter topic
   * @param partition its partition
   * @param offset its offset
   * @param at when it was put aside
   * @param key its key as text; null if it has none or it is no text
   * @param error why it was put aside
   * @param originTopic the topic that it says it came from
   * @param originPartition the partition that it says it came from
   * @param originOffset its offset there
   * @param bytes the length of its value
   */
  public record Letter(
      String topic,
      int partition,
      long offset,
      Instant at,
      @Nullable String key,
      String error,
      String originTopic,
      String originPartition,
      String originOffset,
      int bytes) {}

  /**
   * A dead letter, opened.
   *
   * @param letter its outside
   * @param value its value as text; null if it has none or it is no text
   * @param valueBase64 its value, if it is no text
   * @param headers the other headers, as text
   */
  public record Opened(
      Letter letter,
      @Nullable String value,
      @Nullable String valueBase64,
      Map<String, String> headers) {}

  private static final List<String> OURS =
      List.of("x-error", "x-topic", "x-partition", "x-offset", "x-replayed-from");

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration POLL = Duration.ofMillis(200);

  private final KafkaConsumers consumers;
  private final Producer<byte[], byte[]> producer;
  private final OrderTimeoutProperties.Topics topics;

  DeadLetterReader(
      KafkaConsumers consumers,
      Producer<byte[], byte[]> producer,
      OrderTimeoutProperties properties) {
    this.consumers = consumers;
    this.producer = producer;
    this.topics = properties.topics();
  }

  /** The dead-letter topics. */
  public List<String> topics() {
    return topics.inputs().stream().map(topics::deadLetters).sorted().toList();
  }

  /**
   * The last dead letters of a topic, the latest first.
   *
   * @param topic one of {@link #topics()}
   * @param before by partition, the offset below which to look; the end of those that are not named
   * @param limit most dead letters to return
   * @throws KafkaException if Kafka does not answer
   */
  public List<Letter> latest(String topic, Map<Integer, Long> before, int limit) {
    try (Consumer<byte[], byte[]> consumer = consumers.createForReading()) {
      List<TopicPartition> partitions = new ArrayList<>();
      for (PartitionInfo partition : consumer.partitionsFor(topic, PATIENCE)) {
        partitions.add(new TopicPartition(topic, partition.partition()));
      }
      // Before it is asked where they end, or Kafka's client warns that it is not.
      consumer.assign(partitions);
      Map<TopicPartition, Long> first = consumer.beginningOffsets(partitions, PATIENCE);
      Map<TopicPartition, Long> ends = new HashMap<>(consumer.endOffsets(partitions, PATIENCE));
      ends.replaceAll((p, end) -> Math.min(end, before.getOrDefault(p.partition(), end)));
      for (TopicPartition partition : partitions) {
        long end = ends.getOrDefault(partition, 0L);
        consumer.seek(partition, Math.max(first.getOrDefault(partition, 0L), end - limit));
      }
      return read(consumer, ends).stream()
          .map(DeadLetterReader::letter)
          .sorted(
              Comparator.comparing(Letter::at)
                  .thenComparing(Letter::partition)
                  .thenComparing(Letter::offset)
                  .reversed())
          .limit(limit)
          .toList();
    }
  }

  /** Reads from where the consumer stands to the ends. */
  private static Collection<ConsumerRecord<byte[], byte[]>> read(
      Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (ends.entrySet().stream()
        .anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
      if (System.nanoTime() - deadline > 0) {
        throw new KafkaException("the dead letters could not be read within " + PATIENCE);
      }
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        long end = ends.getOrDefault(new TopicPartition(record.topic(), record.partition()), 0L);
        if (record.offset() < end) {
          records.add(record);
        }
      }
    }
    return records;
  }

  /**
   * Opens a dead letter.
   *
   * @throws KafkaException if Kafka does not answer
   */
  public Optional<Opened> open(String topic, int partition, long offset) {
    return find(topic, partition, offset).map(DeadLetterReader::opened);
  }

  private Optional<ConsumerRecord<byte[], byte[]>> find(String topic, int partition, long offset) {
    TopicPartition place = new TopicPartition(topic, partition);
    try (Consumer<byte[], byte[]> consumer = consumers.createForReading()) {
      boolean exists =
          consumer.partitionsFor(topic, PATIENCE).stream()
              .anyMatch(info -> info.partition() == partition);
      if (!exists) {
        return Optional.empty();
      }
      List<TopicPartition> only = List.of(place);
      consumer.assign(only);
      long first = consumer.beginningOffsets(only, PATIENCE).getOrDefault(place, 0L);
      long end = consumer.endOffsets(only, PATIENCE).getOrDefault(place, 0L);
      if (offset < first || offset >= end) {
        return Optional.empty();
      }
      consumer.seek(place, offset);
      return read(consumer, Map.of(place, offset + 1)).stream()
          .filter(record -> record.offset() == offset)
          .findFirst();
    }
  }

  /**
   * Publishes a dead letter again, as it came, where it came from; says where it is now.
   *
   * @param value what to publish instead of its value; null for its value
   * @throws KafkaException if Kafka does not take it
   */
  public Optional<String> replay(
      String topic, int partition, long offset, byte @Nullable [] value) {
    return find(topic, partition, offset).map(record -> publish(record, value));
  }

  private String publish(ConsumerRecord<byte[], byte[]> record, byte @Nullable [] value) {
    Letter letter = letter(record);
    // Not where its header says, which anybody may have written.
    String origin =
        topics.inputs().stream()
            .filter(input -> topics.deadLetters(input).equals(record.topic()))
            .findFirst()
            .orElseThrow();
    ProducerRecord<byte[], byte[]> again =
        new ProducerRecord<>(origin, record.key(), value == null ? record.value() : value);
    record
        .headers()
        .forEach(
            header -> {
              if (!OURS.contains(header.key())) {
                again.headers().add(header);
              }
            });
    again
        .headers()
        .add(
            "x-replayed-from",
            (letter.topic() + "-" + letter.partition() + "@" + letter.offset())
                .getBytes(StandardCharsets.UTF_8));
    try {
      var place = producer.send(again).get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      return place.topic() + "-" + place.partition() + "@" + place.offset();
    } catch (ExecutionException | TimeoutException e) {
      throw new KafkaException("the dead letter was not taken", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaException("interrupted while the dead letter was published", e);
    }
  }

  private static Letter letter(ConsumerRecord<byte[], byte[]> record) {
    byte[] value = record.value();
    return new Letter(
        record.topic(),
        record.partition(),
        record.offset(),
        Instant.ofEpochMilli(record.timestamp()),
        text(record.key()),
        header(record, "x-error"),
        header(record, "x-topic"),
        header(record, "x-partition"),
        header(record, "x-offset"),
        value == null ? 0 : value.length);
  }

  private static Opened opened(ConsumerRecord<byte[], byte[]> record) {
    byte[] value = record.value();
    String text = text(value);
    Map<String, String> headers = new TreeMap<>();
    for (Header header : record.headers()) {
      if (!OURS.contains(header.key())) {
        String known = text(header.value());
        headers.put(header.key(), known == null ? base64(header.value()) : known);
      }
    }
    return new Opened(
        letter(record), text, value == null || text != null ? null : base64(value), headers);
  }

  private static String header(ConsumerRecord<?, ?> record, String name) {
    Header header = record.headers().lastHeader(name);
    return header == null ? "" : new String(header.value(), StandardCharsets.UTF_8);
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private static @Nullable String text(byte @Nullable [] bytes) {
    if (bytes == null) {
      return null;
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }
}
