package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.OrderTimeoutProperties.WatermarkScope;
import io.ordertimeout.orders.deadline.OrderCreated;
import io.ordertimeout.orders.deadline.OrderSettled;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Decodes records into events. Decoding never throws: a record that cannot be decoded is returned
 * as a dead letter with the reason. Thread-safe; O(size of the record), which Kafka bounds.
 */
@Component
public final class EventDecoder {

  static final int MAX_ORDER_ID = 128;
  private static final int MAX_PAYMENT_ID = 256;
  private static final int MAX_REASON = 1_024;

  private static final DecodedRecord IGNORED = new DecodedRecord.Ignored();

  private final OrderTimeoutProperties.Topics topics;
  private final Map<String, RecordFormat> formats;
  private final OrderTimeoutProperties.Fields names;
  private final EventTypes types;
  private final boolean isKeyTheOrderId;
  private final PaymentDeadlines deadlines;
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

  EventDecoder(OrderTimeoutProperties properties, PaymentDeadlines deadlines) {
    this.topics = properties.topics();
    this.formats = formats(topics, properties.intake().formats());
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
   */
  public DecodedRecord decode(
      ConsumerRecord<byte @Nullable [], byte @Nullable []> record, Instant now) {
    RecordFormat format = format(record);
    EventKind kind = types.ofTopic(record.topic());
    try {
      ExtractedEvent extracted =
          format.extract(record, kind == EventKind.CREATED ? exactJson : json);
      if (extracted != null && kind == null) {
        kind = types.of(record, extracted);
        extracted = kind == EventKind.CREATED ? format.extract(record, exactJson) : extracted;
      }
      return extracted == null || kind == null
          ? IGNORED
          : decode(record, kind, new EventFields(extracted.event(), extracted.isRow()), now);
    } catch (UnusableRecordException e) {
      return unusable(record, kind, String.valueOf(e.getMessage()));
    }
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
  private static Map<String, RecordFormat> formats(
      OrderTimeoutProperties.Topics topics, OrderTimeoutProperties.Formats configured) {
    Map<String, RecordFormat> formats = new HashMap<>();
    formats.put(topics.closed(), RecordFormat.valueOf(configured.closed().name()));
    formats.put(topics.paid(), RecordFormat.valueOf(configured.paid().name()));
    formats.put(topics.created(), RecordFormat.valueOf(configured.created().name()));
    return formats;
  }

  private RecordFormat format(ConsumerRecord<?, ?> record) {
    return formats.getOrDefault(record.topic(), RecordFormat.JSON);
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
    RecordFormat format = format(record);
    boolean isConnect = format == RecordFormat.DEBEZIUM || format == RecordFormat.OUTBOX;
    return RecordKey.orderId(record.key(), isConnect, json);
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
