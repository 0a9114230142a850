package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.OrderTimeoutProperties.Encodings;
import io.ordertimeout.orders.OrderTimeoutProperties.Format;
import io.ordertimeout.orders.OrderTimeoutProperties.Formats;
import io.ordertimeout.orders.OrderTimeoutProperties.WatermarkScope;
import io.ordertimeout.orders.deadline.OrderCreated;
import io.ordertimeout.orders.deadline.OrderSettled;
import io.ordertimeout.orders.platform.avro.AvroDecoder;
import io.ordertimeout.orders.platform.avro.SchemaRegistryUnavailableException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Decodes records into events. A record that cannot be decoded is returned as a dead letter with
 * the reason; decoding throws only if the record may be decoded later. Thread-safe; O(size of the
 * record), which Kafka bounds.
 */
@Component
public final class EventDecoder {

  static final int MAX_ORDER_ID = 128;
  private static final int MAX_PAYMENT_ID = 256;
  private static final int MAX_REASON = 1_024;

  private static final DecodedRecord IGNORED = new DecodedRecord.Ignored();

  /**
   * How the records of a topic contain events.
   *
   * @param format how the value contains the event
   * @param encoding how the value is encoded
   * @param values decodes the value
   */
  private record TopicFormat(RecordFormat format, String encoding, ValueDecoder values) {

    /** Whether ids may be numbers, and times be counted from 1970, whatever the format. */
    boolean isTyped() {
      return !encoding.equals(Encodings.JSON);
    }

    boolean isConnect() {
      return format == RecordFormat.DEBEZIUM || format == RecordFormat.OUTBOX;
    }
  }

  private final OrderTimeoutProperties.Topics topics;
  private final Map<String, TopicFormat> formats;
  private final TopicFormat unknown;
  private final OrderTimeoutProperties.Fields names;
  private final EventTypes types;
  private final boolean isKeyTheOrderId;
  private final PaymentDeadlines deadlines;
  private final ValueDecoders decoders;
  private final JsonMapper json =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(32)
                          .maxNumberLength(100)
                          .maxNameLength(1_000)
                          .build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  // Keeps every digit of an amount. Payments and closings have no amount, so they are parsed
  // without it: then no number in them, however large, makes them unusable.
  private final JsonMapper exactJson =
      json.rebuild().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  EventDecoder(
      OrderTimeoutProperties properties, PaymentDeadlines deadlines, ValueDecoders decoders) {
    this.topics = properties.topics();
    this.decoders = decoders;
    this.formats = formats(properties.intake().formats(), properties.intake().encodings());
    this.unknown = format(Format.PLAIN, Encodings.JSON);
    this.names = properties.intake().fields();
    this.types = new EventTypes(topics, properties.intake().types());
    this.isKeyTheOrderId = properties.expiry().watermarkScope() == WatermarkScope.SHARD;
    this.deadlines = deadlines;
  }

  /**
   * Decodes a record.
   *
   * @param now the time of its intake by Postgres's clock, against which the times are checked that
   *     producers state
   * @throws RetriableException if the record cannot be decoded at present, whatever its content,
   *     because the schema registry, or what a Deserializer needs, does not answer soon
   */
  public DecodedRecord decode(
      ConsumerRecord<byte @Nullable [], byte @Nullable []> record, Instant now) {
    TopicFormat format = format(record);
    EventKind kind = types.ofTopic(record.topic());
    try {
      ExtractedEvent extracted = extract(record, format, kind);
      if (extracted != null && kind == null) {
        kind = types.of(record, extracted);
        extracted = kind == EventKind.CREATED ? extract(record, format, kind) : extracted;
      }
      return extracted == null || kind == null
          ? IGNORED
          : decode(
              record,
              kind,
              new EventFields(extracted.event(), extracted.isRow() || format.isTyped()),
              now);
    } catch (UnusableRecordException e) {
      return unusable(record, kind, String.valueOf(e.getMessage()));
    }
  }

  /**
   * Decodes a record, and waits for the schema registry up to its time-out: not for the threads of
   * consumers, whose other partitions would wait, too.
   *
   * @param now the time of its intake, as in {@link #decode}
   * @throws RetriableException if the record cannot be decoded at present, whatever its content
   */
  public DecodedRecord decodePatiently(
      ConsumerRecord<byte @Nullable [], byte @Nullable []> record, Instant now) {
    while (true) {
      try {
        return decode(record, now);
      } catch (SchemaRegistryUnavailableException e) {
        if (!e.awaitAnswer()) {
          throw e;
        }
      }
    }
  }

  private @Nullable ExtractedEvent extract(
      ConsumerRecord<byte @Nullable [], byte @Nullable []> record,
      TopicFormat format,
      @Nullable EventKind kind)
      throws UnusableRecordException {
    return format.format.extract(
        record, format.values, kind == EventKind.CREATED ? exactJson : json);
  }

  private DecodedRecord decode(
      ConsumerRecord<byte @Nullable [], ?> record, EventKind kind, EventFields fields, Instant now)
      throws UnusableRecordException {
    String orderId = fields.text(names.orderId(), MAX_ORDER_ID);
    if (orderId == null) {
      throw new UnusableRecordException(names.orderId() + " is missing");
    }
    String keyFault = keyFault(record, orderId);
    if (kind == EventKind.CREATED) {
      // The watermark of another partition does not cover the order's payment.
      return keyFault == null
          ? new DecodedRecord.Created(created(record, fields, orderId, now))
          : new DecodedRecord.Undecodable(keyFault + "; the order is not watched", null);
    }
    Instant recordedAt = RecordTime.of(record, now);
    return settled(record, kind, recordedAt, new LenientFields(fields, now), orderId, keyFault);
  }

  /** The formats by topic; that of created orders applies to a topic that they share. */
  private Map<String, TopicFormat> formats(Formats configured, Encodings encodings) {
    Map<String, TopicFormat> byTopic = new HashMap<>();
    byTopic.put(topics.closed(), format(configured.closed(), encodings.closed()));
    byTopic.put(topics.paid(), format(configured.paid(), encodings.paid()));
    byTopic.put(topics.created(), format(configured.created(), encodings.created()));
    return byTopic;
  }

  private TopicFormat format(Format format, String encoding) {
    return new TopicFormat(RecordFormat.valueOf(format.name()), encoding, decoders.of(encoding));
  }

  private TopicFormat format(ConsumerRecord<?, ?> record) {
    return formats.getOrDefault(record.topic(), unknown);
  }

  /**
   * Even if a payment or closing cannot be decoded, its key identifies the order.
   *
   * @param kind what the record tells; null if it may be anything
   */
  private DecodedRecord unusable(
      ConsumerRecord<byte @Nullable [], ?> record, @Nullable EventKind kind, String fault) {
    String orderId = kind == EventKind.CREATED ? null : orderIdOfKey(record);
    return orderId == null
        ? new DecodedRecord.Undecodable(fault, null)
        : new DecodedRecord.Undecodable(
            fault + "; the order of its key is parked, so not cancelled", orderId);
  }

  private @Nullable String orderIdOfKey(ConsumerRecord<byte @Nullable [], ?> record) {
    TopicFormat format = format(record);
    byte[] key = record.key();
    if (key != null && format.encoding.equals(Encodings.AVRO) && AvroDecoder.isFramed(key)) {
      try {
        return RecordKey.orderId(decoders.avro(key).tree());
      } catch (UnusableRecordException e) {
        return null;
      }
    }
    return RecordKey.orderId(key, format.isConnect(), json);
  }

  private @Nullable String keyFault(ConsumerRecord<byte @Nullable [], ?> record, String orderId) {
    if (!isKeyTheOrderId) {
      return null;
    }
    byte[] key = record.key();
    if (key == null) {
      return "the key is missing, it has to be the order id";
    }
    boolean same =
        Arrays.equals(key, orderId.getBytes(StandardCharsets.UTF_8))
            || orderId.equals(orderIdOfKey(record));
    return same ? null : "the key is not the order id";
  }

  private OrderCreated created(
      ConsumerRecord<?, ?> record, EventFields fields, String orderId, Instant now)
      throws UnusableRecordException {
    Instant stated = fields.instant(names.createdAt());
    Instant createdAt = stated == null ? RecordTime.of(record, now) : stated;
    if (createdAt == null) {
      throw new UnusableRecordException(
          "%s is missing, and the record's timestamp is unusable: %s"
              .formatted(names.createdAt(), Instant.ofEpochMilli(record.timestamp())));
    }
    String channel = fields.text(names.channel());
    String paymentMethod = fields.text(names.paymentMethod());
    Instant payBy = fields.instant(names.payBy());
    Duration timeout = fields.duration(names.timeout());
    PaymentDeadlines.PaymentDeadline deadline =
        deadlines.of(createdAt, stated != null, now, payBy, timeout, channel, paymentMethod);
    return new OrderCreated(
        orderId,
        record.partition(),
        createdAt,
        deadline.deadline(),
        deadline.policy(),
        channel,
        paymentMethod,
        fields.amount(names.amount(), names.currency()),
        null);
  }

  private DecodedRecord settled(
      ConsumerRecord<?, ?> record,
      EventKind kind,
      @Nullable Instant usableTime,
      LenientFields fields,
      String orderId,
      @Nullable String keyFault) {
    // Any timestamp is accepted: rejecting a payment could cancel a paid order.
    Instant recordedAt = usableTime == null ? fields.now : usableTime;
    OrderSettled event;
    if (kind == EventKind.PAID) {
      String paymentId = fields.textOrElse(names.paymentId(), MAX_PAYMENT_ID, position(record));
      Instant paidAt = fields.instantOrElse(names.paidAt(), usableTime);
      event = new OrderSettled.Paid(orderId, record.partition(), recordedAt, paymentId, paidAt);
    } else {
      Instant closedAt = fields.instantOrElse(names.closedAt(), usableTime);
      String reason = fields.textOrNull(names.reason(), MAX_REASON);
      event = new OrderSettled.Closed(orderId, record.partition(), recordedAt, closedAt, reason);
    }
    String fault = keyFault == null ? null : keyFault + "; it was applied nevertheless";
    return new DecodedRecord.Settled(event, fault, fields.replaced());
  }

  private static String position(ConsumerRecord<?, ?> record) {
    return record.topic() + "-" + record.partition() + "-" + record.offset();
  }

  /** Fields whose unusable values are replaced and counted. */
  private static final class LenientFields {

    private final EventFields fields;
    private final Instant now;
    private int replaced;

    LenientFields(EventFields fields, Instant now) {
      this.fields = fields;
      this.now = Micros.roundUp(now);
    }

    @Nullable String textOrNull(String field, int maxLength) {
      try {
        return fields.text(field, maxLength);
      } catch (UnusableRecordException e) {
        replaced++;
        return null;
      }
    }

    String textOrElse(String field, int maxLength, String replacement) {
      String text = textOrNull(field, maxLength);
      return text == null ? replacement : text;
    }

    /**
     * A stated time, or that of the record, or the time of the intake, which is never too early.
     *
     * @param recordedAt the time of the record; null if it is unusable
     */
    Instant instantOrElse(String field, @Nullable Instant recordedAt) {
      try {
        Instant time = fields.instant(field);
        if (time != null && Micros.isInRange(time)) {
          return time;
        }
        if (time == null && recordedAt != null) {
          return recordedAt;
        }
      } catch (UnusableRecordException e) {
        // Replaced below, like a time that is out of bounds.
      }
      replaced++;
      return recordedAt == null ? now : recordedAt;
    }

    int replaced() {
      return replaced;
    }
  }
}
