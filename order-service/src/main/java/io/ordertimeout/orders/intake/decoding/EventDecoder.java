package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.OrderCreated;
import io.ordertimeout.orders.deadline.OrderSettled;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
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

  private final OrderTimeoutProperties.Topics topics;
  private final OrderTimeoutProperties.Fields names;
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
  // without
  // it: then no number in them, however large, makes them unusable.
  private final JsonMapper exactJson =
      json.rebuild().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  EventDecoder(OrderTimeoutProperties properties, PaymentDeadlines deadlines) {
    this.topics = properties.topics();
    this.names = properties.intake().fields();
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
    try {
      EventFields fields = fields(record);
      String orderId = fields.text(names.orderId(), MAX_ORDER_ID);
      if (orderId == null) {
        throw new UnusableRecordException(names.orderId() + " is missing");
      }
      String keyFault = keyFault(record.key(), orderId);
      if (isCreated(record)) {
        // The watermark of another partition does not cover the order's payment.
        return keyFault == null
            ? new DecodedRecord.Created(created(record, fields, orderId, now))
            : new DecodedRecord.Undecodable(keyFault + "; the order is not watched", null);
      }
      Instant recordedAt = RecordTime.of(record, now);
      return settled(record, recordedAt, new LenientFields(fields, now), orderId, keyFault);
    } catch (UnusableRecordException e) {
      return unusable(record, String.valueOf(e.getMessage()));
    }
  }

  /** Even if a payment or closing cannot be decoded, its key identifies the order. */
  private DecodedRecord unusable(ConsumerRecord<byte @Nullable [], ?> record, String fault) {
    String orderId = isCreated(record) ? null : orderId(record.key());
    return orderId == null
        ? new DecodedRecord.Undecodable(fault, null)
        : new DecodedRecord.Undecodable(
            fault + "; the order of its key is parked, so not cancelled", orderId);
  }

  private boolean isCreated(ConsumerRecord<?, ?> record) {
    return record.topic().equals(topics.created());
  }

  /** Returns the key as an order id; null if it cannot be one. */
  private static @Nullable String orderId(byte @Nullable [] key) {
    // A longer key cannot be an order id: a character takes at most four bytes.
    if (key == null || key.length == 0 || key.length > 4 * MAX_ORDER_ID) {
      return null;
    }
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(key)).toString();
      boolean fits = text.codePointCount(0, text.length()) <= MAX_ORDER_ID;
      return fits && text.indexOf(0) < 0 ? text : null;
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  private EventFields fields(ConsumerRecord<?, byte @Nullable []> record)
      throws UnusableRecordException {
    byte @Nullable [] value = record.value();
    if (value == null) {
      throw new UnusableRecordException("the value is null (a tombstone)");
    }
    if (value.length == 0) {
      throw new UnusableRecordException("the value is empty");
    }
    JsonNode root;
    try {
      root = (isCreated(record) ? exactJson : json).readTree(value);
    } catch (JacksonException e) {
      throw new UnusableRecordException("the value is not JSON: " + e.getOriginalMessage());
    } catch (NumberFormatException e) {
      // Jackson throws it unwrapped for an exponent beyond an int.
      throw new UnusableRecordException("the value has an unusable number: " + e.getMessage());
    }
    if (!root.isObject()) {
      throw new UnusableRecordException("the value is not a JSON object but " + root.getNodeType());
    }
    return new EventFields(root);
  }

  private static @Nullable String keyFault(byte @Nullable [] key, String orderId) {
    if (key == null) {
      return "the key is missing, it has to be the order id";
    }
    return Arrays.equals(key, orderId.getBytes(StandardCharsets.UTF_8))
        ? null
        : "the key is not the order id";
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
        fields.amount(names.amount()),
        null);
  }

  private DecodedRecord settled(
      ConsumerRecord<?, ?> record,
      @Nullable Instant usableTime,
      LenientFields fields,
      String orderId,
      @Nullable String keyFault) {
    // Any timestamp is accepted: rejecting a payment could cancel a paid order.
    Instant recordedAt = usableTime == null ? fields.now : usableTime;
    OrderSettled event;
    if (record.topic().equals(topics.paid())) {
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
