package io.ordertimeout.orders.intake.deadletter;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.intake.decoding.DecodedRecord;
import io.ordertimeout.orders.intake.decoding.EventDecoder;
import io.ordertimeout.orders.intake.decoding.RecordOrigin;
import io.ordertimeout.orders.platform.kafka.KafkaConsumers;
import io.ordertimeout.orders.platform.kafka.PartitionCounts;
import io.ordertimeout.orders.platform.kafka.RecoveringProducer;
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
import java.util.function.Function;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Reads dead letters from their topics, and publishes them again to the topics that they came from.
 * Each call uses a consumer of its own that belongs to no group. Thread-safe.
 */
@Component
public class DeadLetterReader {

  /**
   * The metadata of a dead letter.
   *
   * @param topic the dead-letter topic
   * @param partition its partition
   * @param offset its offset
   * @param at when it was published
   * @param key its key as text; null if there is none or it is not UTF-8
   * @param error why the record could not be used
   * @param fault the error without what is special to the record, for grouping
   * @param originTopic the topic of the original record, according to the headers
   * @param originPartition the partition of the original record, according to the headers
   * @param originOffset the offset of the original record, according to the headers
   * @param bytes the size of its value
   * @param replay the latest time that it was published again; null if it never was or that is not
   *     known here
   */
  public record DeadLetter(
      String topic,
      int partition,
      long offset,
      Instant at,
      @Nullable String key,
      String error,
      String fault,
      String originTopic,
      String originPartition,
      String originOffset,
      int bytes,
      @Nullable Replay replay) {

    /** Returns where it is. */
    public Position position() {
      return new Position(topic, partition, offset);
    }

    /** Returns the same dead letter with its replay. */
    public DeadLetter with(@Nullable Replay latest) {
      return new DeadLetter(
          topic,
          partition,
          offset,
          at,
          key,
          error,
          fault,
          originTopic,
          originPartition,
          originOffset,
          bytes,
          latest);
    }
  }

  /**
   * A replay of a dead letter.
   *
   * @param at when it was published again
   * @param by who had it published
   * @param to the position of the new record
   * @param corrected whether it was published with another value
   */
  public record Replay(Instant at, String by, String to, boolean corrected) {}

  /**
   * Where a dead letter is.
   *
   * @param topic the dead-letter topic
   * @param partition its partition
   * @param offset its offset
   */
  public record Position(String topic, int partition, long offset) {
    @Override
    public String toString() {
      return topic + "-" + partition + "@" + offset;
    }
  }

  /**
   * A dead letter with its content.
   *
   * @param letter its metadata
   * @param value its value as text; null if there is none or it is not UTF-8
   * @param valueBase64 its value in Base64, if it is not UTF-8
   * @param headers the headers of the original record, as text or in Base64
   */
  public record DeadLetterContent(
      DeadLetter letter,
      @Nullable String value,
      @Nullable String valueBase64,
      Map<String, String> headers) {}

  /**
   * What a replay changes.
   *
   * @param key the key to publish; null for that of the dead letter. It chooses the partition, as
   *     Kafka's Java client does.
   * @param value the value to publish; null for that of the dead letter
   */
  public record Correction(@Nullable String key, @Nullable String value) {

    /** Changes nothing. */
    public static final Correction NONE = new Correction(null, null);

    /** Whether it changes anything. */
    public boolean isAny() {
      return !equals(NONE);
    }
  }

  /**
   * A replayed dead letter.
   *
   * @param position the position of the new record
   * @param orderId its order; null if it is not known
   */
  public record Republished(String position, @Nullable String orderId) {}

  private static final List<String> OWN_HEADERS =
      List.of("x-error", "x-topic", "x-partition", "x-offset", "x-timestamp", "x-replayed-from");

  // What follows a colon is a value of the record, except for times.
  private static final Pattern TIMES = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z");
  private static final Pattern VALUE = Pattern.compile(": .*", Pattern.DOTALL);

  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final Duration POLL_TIMEOUT = Duration.ofMillis(200);

  private final KafkaConsumers consumers;
  private final RecoveringProducer producer;
  private final EventDecoder decoder;
  private final PartitionCounts partitionCounts;
  private final OrderTimeoutProperties.Topics topics;

  DeadLetterReader(
      KafkaConsumers consumers,
      RecoveringProducer producer,
      EventDecoder decoder,
      PartitionCounts partitionCounts,
      OrderTimeoutProperties properties) {
    this.consumers = consumers;
    this.producer = producer;
    this.decoder = decoder;
    this.partitionCounts = partitionCounts;
    this.topics = properties.topics();
  }

  /** The dead-letter topics. */
  public List<String> topics() {
    return topics.inputs().stream().map(topics::deadLetters).sorted().toList();
  }

  /**
   * Returns dead letters of a topic, latest first.
   *
   * @param topic one of {@link #topics()}
   * @param before by partition, the offset below which to read; other partitions are read from
   *     their end
   * @param limit maximum number of dead letters to return
   * @throws KafkaException if Kafka does not answer
   */
  public List<DeadLetter> latest(String topic, Map<Integer, Long> before, int limit) {
    try (Consumer<byte[], byte[]> consumer = consumers.createStandalone()) {
      List<TopicPartition> partitions = new ArrayList<>();
      for (PartitionInfo partition : consumer.partitionsFor(topic, TIMEOUT)) {
        partitions.add(new TopicPartition(topic, partition.partition()));
      }
      // Assigned first, because endOffsets() warns about partitions that are not assigned.
      consumer.assign(partitions);
      Map<TopicPartition, Long> first = consumer.beginningOffsets(partitions, TIMEOUT);
      Map<TopicPartition, Long> ends = new HashMap<>(consumer.endOffsets(partitions, TIMEOUT));
      ends.replaceAll((p, end) -> Math.min(end, before.getOrDefault(p.partition(), end)));
      for (TopicPartition partition : partitions) {
        long end = ends.getOrDefault(partition, 0L);
        consumer.seek(partition, Math.max(first.getOrDefault(partition, 0L), end - limit));
      }
      return readUpTo(consumer, ends, DeadLetterReader::deadLetter).stream()
          .sorted(
              Comparator.comparing(DeadLetter::at)
                  .thenComparing(DeadLetter::partition)
                  .thenComparing(DeadLetter::offset)
                  .reversed())
          .limit(limit)
          .toList();
    }
  }

  /**
   * Reads from the consumer's positions up to the given offsets, exclusive.
   *
   * @param conversion what is kept of a record, whose value may be large
   */
  private static <T> Collection<T> readUpTo(
      Consumer<byte[], byte[]> consumer,
      Map<TopicPartition, Long> ends,
      Function<ConsumerRecord<byte[], byte[]>, T> conversion) {
    List<T> records = new ArrayList<>();
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (ends.entrySet().stream()
        .anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
      if (System.nanoTime() - deadline > 0) {
        throw new KafkaException("could not read the dead letters within " + TIMEOUT);
      }
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL_TIMEOUT)) {
        long end = ends.getOrDefault(new TopicPartition(record.topic(), record.partition()), 0L);
        if (record.offset() < end) {
          records.add(conversion.apply(record));
        }
      }
    }
    return records;
  }

  /**
   * Reads a dead letter with its content; empty if it does not exist or is already deleted.
   *
   * @throws KafkaException if Kafka does not answer
   */
  public Optional<DeadLetterContent> read(Position position) {
    try (Session session = open()) {
      return session.find(position).map(DeadLetterReader::content);
    }
  }

  /** Begins a session. */
  public Session open() {
    return new Session(consumers.createStandalone());
  }

  /** Replays dead letters one after the other, by the same consumer. Not thread-safe. */
  public final class Session implements AutoCloseable {

    private final Consumer<byte[], byte[]> consumer;

    private Session(Consumer<byte[], byte[]> consumer) {
      this.consumer = consumer;
    }

    /**
     * Publishes a dead letter again, to the topic that it came from.
     *
     * @param correction what differs from the dead letter
     * @return the new record; empty if the dead letter does not exist
     * @throws KafkaException if Kafka does not acknowledge it
     */
    public Optional<Republished> replay(Position position, Correction correction) {
      return find(position).map(record -> republish(record, correction));
    }

    private Optional<ConsumerRecord<byte[], byte[]>> find(Position position) {
      TopicPartition partition = new TopicPartition(position.topic(), position.partition());
      boolean exists =
          consumer.partitionsFor(position.topic(), TIMEOUT).stream()
              .anyMatch(info -> info.partition() == position.partition());
      if (!exists) {
        return Optional.empty();
      }
      List<TopicPartition> assignment = List.of(partition);
      consumer.assign(assignment);
      long first = consumer.beginningOffsets(assignment, TIMEOUT).getOrDefault(partition, 0L);
      long end = consumer.endOffsets(assignment, TIMEOUT).getOrDefault(partition, 0L);
      long offset = position.offset();
      if (offset < first || offset >= end) {
        return Optional.empty();
      }
      consumer.seek(partition, offset);
      return readUpTo(consumer, Map.of(partition, offset + 1), record -> record).stream()
          .filter(record -> record.offset() == offset)
          .findFirst();
    }

    @Override
    public void close() {
      consumer.close();
    }
  }

  private Republished republish(ConsumerRecord<byte[], byte[]> record, Correction correction) {
    // The topic comes from the configuration, because anybody can forge the header.
    String origin =
        topics.inputs().stream()
            .filter(input -> topics.deadLetters(input).equals(record.topic()))
            .findFirst()
            .orElseThrow();
    String key = correction.key;
    String value = correction.value;
    ProducerRecord<byte[], byte[]> replayed =
        new ProducerRecord<>(
            origin,
            key == null ? partitionOfOrder(origin, record) : null,
            key == null ? record.key() : key.getBytes(StandardCharsets.UTF_8),
            value == null ? record.value() : value.getBytes(StandardCharsets.UTF_8));
    record
        .headers()
        .forEach(
            header -> {
              if (!OWN_HEADERS.contains(header.key())) {
                replayed.headers().add(header);
              }
            });
    RecordOrigin.copy(record, replayed.headers());
    String source = new Position(record.topic(), record.partition(), record.offset()).toString();
    replayed.headers().add("x-replayed-from", source.getBytes(StandardCharsets.UTF_8));
    try {
      var result = producer.send(replayed).get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      return new Republished(
          new Position(result.topic(), result.partition(), result.offset()).toString(),
          orderId(replayed, result));
    } catch (ExecutionException | TimeoutException e) {
      throw new KafkaException("the replayed dead letter was not acknowledged: " + source, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaException("interrupted while replaying the dead letter " + source, e);
    }
  }

  private @Nullable String orderId(ProducerRecord<byte[], byte[]> record, RecordMetadata result) {
    DecodedRecord decoded;
    try {
      decoded =
          decoder.decodePatiently(
              new ConsumerRecord<>(
                  result.topic(),
                  result.partition(),
                  result.offset(),
                  result.timestamp(),
                  TimestampType.CREATE_TIME,
                  0,
                  0,
                  record.key(),
                  record.value(),
                  record.headers(),
                  Optional.empty()),
              Instant.ofEpochMilli(result.timestamp()));
    } catch (RetriableException e) {
      return null; // it is published all the same
    }
    if (decoded instanceof DecodedRecord.Created created) {
      return created.order().orderId();
    }
    if (decoded instanceof DecodedRecord.Settled settled) {
      return settled.event().orderId();
    }
    return decoded instanceof DecodedRecord.Undecodable undecodable
        ? undecodable.ordersInDoubt().stream().findFirst().orElse(null)
        : null;
  }

  /**
   * Returns the partition of the record's order: the one that its producer chose, unless partitions
   * have been added since. Producers then choose another one, by the key; so does Kafka's producer
   * if this method returns null.
   */
  private @Nullable Integer partitionOfOrder(String origin, ConsumerRecord<byte[], byte[]> record) {
    int partitions = producer.partitionsFor(origin).size();
    int partition;
    try {
      partition = Integer.parseInt(header(record, "x-partition"));
    } catch (NumberFormatException e) {
      return null; // not published by this service
    }
    if (partition < 0 || partition >= partitions) {
      return null;
    }
    int then = partitionCounts.at(Instant.ofEpochMilli(record.timestamp())).orElse(partitions);
    return then == partitions || record.key() == null ? Integer.valueOf(partition) : null;
  }

  private static DeadLetter deadLetter(ConsumerRecord<byte[], byte[]> record) {
    byte[] value = record.value();
    String error = header(record, "x-error");
    return new DeadLetter(
        record.topic(),
        record.partition(),
        record.offset(),
        Instant.ofEpochMilli(record.timestamp()),
        text(record.key()),
        error,
        fault(error),
        header(record, "x-topic"),
        header(record, "x-partition"),
        header(record, "x-offset"),
        value == null ? 0 : value.length,
        null);
  }

  private static String fault(String error) {
    return VALUE.matcher(TIMES.matcher(error).replaceAll("…")).replaceFirst("");
  }

  private static DeadLetterContent content(ConsumerRecord<byte[], byte[]> record) {
    byte[] value = record.value();
    String text = text(value);
    Map<String, String> headers = new TreeMap<>();
    for (Header header : record.headers()) {
      if (!OWN_HEADERS.contains(header.key())) {
        String headerText = text(header.value());
        headers.put(header.key(), headerText == null ? base64(header.value()) : headerText);
      }
    }
    return new DeadLetterContent(
        deadLetter(record), text, value == null || text != null ? null : base64(value), headers);
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
