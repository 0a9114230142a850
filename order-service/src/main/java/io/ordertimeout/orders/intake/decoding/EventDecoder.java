package io.ordertimeout.orders.intake.decoding;

import static java.util.stream.Collectors.joining;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.OrderTimeoutProperties.Encodings;
import io.ordertimeout.orders.OrderTimeoutProperties.Format;
import io.ordertimeout.orders.OrderTimeoutProperties.Formats;
import io.ordertimeout.orders.OrderTimeoutProperties.WatermarkScope;
import io.ordertimeout.orders.OrderTimeoutProperties.Zones;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.order.EventKind;
import io.ordertimeout.orders.order.OrderChange;
import io.ordertimeout.orders.order.OrderCreated;
import io.ordertimeout.orders.order.OrderSettled;
import io.ordertimeout.orders.order.PaymentTerms;
import io.ordertimeout.orders.platform.avro.AvroDecoder;
import io.ordertimeout.orders.platform.avro.SchemaRegistryUnavailableException;
import io.ordertimeout.orders.suspension.PaymentAttempt;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Decodes records into events. A record that cannot be decoded is returned as a dead letter with
 * the reason; decoding throws only if the record may be decoded later. Thread-safe; O(size of the
 * record), which Kafka bounds.
 */
@Component
public final class EventDecoder {

  static final int MAX_ORDER_ID = 128;
  private static final int MAX_TEXT = 256;
  private static final int MAX_PAYMENT_ID = 256;
  private static final int MAX_ATTEMPT_ID = 256;
  private static final int MAX_REASON = 1_024;
  private static final int MAX_NAMED = 3;

  private static final String STARTED = "STARTED";
  private static final String ENDED = "ENDED";
  private static final String APPLIED = "; it was applied nevertheless";

  private static final DecodedRecord IGNORED = new DecodedRecord.Ignored();

  /**
   * How the records of a topic contain events.
   *
   * @param format how the value contains the event
   * @param encoding how the value is encoded
   * @param values decodes the value
   * @param zone the zone of times that are stated without one, if it is known
   */
  private record TopicFormat(
      RecordFormat format, String encoding, ValueDecoder values, @Nullable ZoneId zone) {

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
  private final Duration hold;
  private final ValueDecoders decoders;

  EventDecoder(
      OrderTimeoutProperties properties, PaymentDeadlines deadlines, ValueDecoders decoders) {
    this.topics = properties.topics();
    this.decoders = decoders;
    this.formats = formats(properties.intake());
    this.unknown = format(Format.PLAIN, Encodings.JSON, null);
    this.names = properties.intake().fields();
    this.types = new EventTypes(topics, properties.intake().types());
    this.isKeyTheOrderId = properties.expiry().watermarkScope() == WatermarkScope.SHARD;
    this.deadlines = deadlines;
    this.hold = properties.attempts().hold();
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
      ExtractedEvent extracted = format.format.extract(record, format.values);
      if (extracted != null && kind == null) {
        kind = types.of(record, extracted);
      }
      return extracted == null || kind == null
          ? IGNORED
          : decode(record, kind, new EventFields(extracted, format.zone), now);
    } catch (UnusableRecordException e) {
      return unusable(record, kind, String.valueOf(e.getMessage()), now);
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

  private DecodedRecord decode(
      ConsumerRecord<byte @Nullable [], ?> record, EventKind kind, EventFields fields, Instant now)
      throws UnusableRecordException {
    List<String> candidates = fields.candidates(names.orderId());
    if (!candidates.isEmpty()) {
      String ids =
          candidates.stream().limit(MAX_NAMED).map(EventFields::excerpt).collect(joining(", "));
      String fault = names.orderId() + " appears more than once: " + ids;
      return unusable(record, kind, LogSanitizer.of(fault), candidates);
    }
    String orderId = fields.text(names.orderId(), MAX_ORDER_ID);
    if (orderId == null) {
      throw new UnusableRecordException(names.orderId() + " is missing");
    }
    String keyFault = keyFault(record, orderId);
    if (kind == EventKind.CREATED) {
      // The watermark of another partition does not cover the order's payment.
      return keyFault == null
          ? created(record, fields, orderId, now)
          : new DecodedRecord.Undecodable(keyFault + "; the order is not watched", Set.of());
    }
    return switch (kind) {
      case ATTEMPT -> attempted(record, now, fields, orderId, keyFault);
      case CHANGED -> changed(record, now, fields, orderId, keyFault);
      default -> settled(record, kind, now, new LenientFields(fields, now), orderId, keyFault);
    };
  }

  /** The formats by topic; that of created orders applies to a topic that they share. */
  private Map<String, TopicFormat> formats(OrderTimeoutProperties.Intake intake) {
    Formats configured = intake.formats();
    Encodings encodings = intake.encodings();
    Zones zones = intake.zones();
    Map<String, TopicFormat> byTopic = new HashMap<>();
    byTopic.put(
        topics.attempts(), format(configured.attempts(), encodings.attempts(), zones.attempts()));
    byTopic.put(
        topics.changed(), format(configured.changed(), encodings.changed(), zones.changed()));
    byTopic.put(topics.closed(), format(configured.closed(), encodings.closed(), zones.closed()));
    byTopic.put(topics.paid(), format(configured.paid(), encodings.paid(), zones.paid()));
    byTopic.put(
        topics.created(), format(configured.created(), encodings.created(), zones.created()));
    return byTopic;
  }

  private TopicFormat format(Format format, String encoding, @Nullable ZoneId zone) {
    return new TopicFormat(
        RecordFormat.valueOf(format.name()), encoding, decoders.of(encoding), zone);
  }

  private TopicFormat format(ConsumerRecord<?, ?> record) {
    return formats.getOrDefault(record.topic(), unknown);
  }

  private DecodedRecord unusable(
      ConsumerRecord<byte @Nullable [], ?> record,
      @Nullable EventKind kind,
      String fault,
      Instant now) {
    String orderId = kind == EventKind.ATTEMPT ? orderIdOfKey(record) : null;
    return orderId == null
        ? unusable(record, kind, fault, List.of())
        : attemptInDoubt(record, orderId, now, fault);
  }

  /**
   * Even if a record of a settling topic cannot be decoded, its key identifies the order.
   *
   * @param kind what the record tells; null if it may be anything
   * @param candidates the orders that it may be about, whatever its key
   */
  private DecodedRecord unusable(
      ConsumerRecord<byte @Nullable [], ?> record,
      @Nullable EventKind kind,
      String fault,
      List<String> candidates) {
    if (kind == EventKind.CREATED) {
      return new DecodedRecord.Undecodable(fault, Set.of());
    }
    Set<String> inDoubt = new TreeSet<>();
    String orderId = orderIdOfKey(record);
    if (orderId != null) {
      inDoubt.add(orderId);
    }
    candidates.stream().filter(RecordKey::isUsable).forEach(inDoubt::add);
    String parked =
        candidates.isEmpty()
            ? "; the order of its key is parked, so not cancelled"
            : "; the orders of these ids are parked, so not cancelled";
    return new DecodedRecord.Undecodable(inDoubt.isEmpty() ? fault : fault + parked, inDoubt);
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
    return RecordKey.orderId(key, format.isConnect());
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

  private DecodedRecord created(
      ConsumerRecord<?, ?> record, EventFields fields, String orderId, Instant now)
      throws UnusableRecordException {
    Instant stated = fields.eventTime(names.createdAt());
    RecordOrigin origin = RecordOrigin.of(record);
    Instant createdAt = stated == null ? RecordTime.of(origin, now) : stated;
    if (createdAt == null) {
      throw new UnusableRecordException(
          "%s is missing, and the record's timestamp is unusable: %s"
              .formatted(names.createdAt(), Instant.ofEpochMilli(origin.timestampMillis())));
    }
    LenientFields lenient = new LenientFields(fields, now);
    String channel = lenient.textOrNull(names.channel(), MAX_TEXT);
    String paymentMethod = lenient.textOrNull(names.paymentMethod(), MAX_TEXT);
    Instant payBy = fields.payBy(names.payBy());
    Duration timeout = fields.duration(names.timeout());
    Amount amount = lenient.amountOrNull(names.amount(), names.currency());
    PaymentTerms terms =
        deadlines.of(
            createdAt, stated != null, now, payBy, timeout, channel, paymentMethod, amount);
    OrderCreated order =
        new OrderCreated(
            orderId, record.partition(), createdAt, terms, channel, paymentMethod, amount, null);
    return new DecodedRecord.Created(order, lenient.replaced());
  }

  private DecodedRecord attempted(
      ConsumerRecord<?, ?> record,
      Instant now,
      EventFields fields,
      String orderId,
      @Nullable String keyFault) {
    try {
      String attemptId = fields.text(names.attemptId(), MAX_ATTEMPT_ID);
      String status = fields.text(names.status(), MAX_TEXT);
      Instant until = fields.instant(names.until());
      boolean isEnd = ENDED.equals(status);
      if (!isEnd && !STARTED.equals(status)) {
        throw new UnusableRecordException(
            "%s is %s, not STARTED or ENDED"
                .formatted(
                    names.status(), status == null ? "missing" : EventFields.excerpt(status)));
      }
      if (until != null && !Micros.isInRange(until)) {
        throw new UnusableRecordException(
            "%s is not between 1970 and the year 9999: %s".formatted(names.until(), until));
      }
      Instant recordedAt = recordedAt(record, now);
      PaymentAttempt event =
          new PaymentAttempt(
              orderId,
              record.partition(),
              recordedAt,
              attemptId == null ? "" : attemptId,
              isEnd ? null : Objects.requireNonNullElse(until, recordedAt.plus(hold)));
      return new DecodedRecord.Attempted(event, keyFault == null ? null : keyFault + APPLIED);
    } catch (UnusableRecordException e) {
      return attemptInDoubt(record, orderId, now, String.valueOf(e.getMessage()));
    }
  }

  /** A payment may be under way: until when is not known, nor the id with which it ends. */
  private DecodedRecord attemptInDoubt(
      ConsumerRecord<?, ?> record, String orderId, Instant now, String fault) {
    Instant recordedAt = recordedAt(record, now);
    return new DecodedRecord.Attempted(
        new PaymentAttempt(
            orderId,
            record.partition(),
            recordedAt,
            RecordOrigin.of(record).toString(),
            recordedAt.plus(hold)),
        fault + "; it counts as an attempt that started, for " + hold);
  }

  /** An unusable change may have postponed the deadline, so its order is parked. */
  private DecodedRecord changed(
      ConsumerRecord<byte @Nullable [], ?> record,
      Instant now,
      EventFields fields,
      String orderId,
      @Nullable String keyFault) {
    try {
      Instant stated = fields.eventTime(names.changedAt());
      Instant changedAt = stated == null ? recordedAt(record, now) : stated;
      LenientFields lenient = new LenientFields(fields, now);
      String channel = lenient.textOrNull(names.channel(), MAX_TEXT);
      String paymentMethod = lenient.textOrNull(names.paymentMethod(), MAX_TEXT);
      Amount amount = lenient.amountOrNull(names.amount(), names.currency());
      String policy = fields.text(names.policy(), MAX_TEXT);
      PaymentTerms terms =
          deadlines.changed(
              changedAt,
              now,
              fields.payBy(names.payBy()),
              fields.duration(names.timeout()),
              policy);
      if (Stream.of(terms, channel, paymentMethod, amount).allMatch(Objects::isNull)
          && lenient.replaced().isEmpty()) {
        throw new UnusableRecordException(
            "it states none of "
                + String.join(
                    ", ",
                    names.payBy(),
                    names.timeout(),
                    names.policy(),
                    names.channel(),
                    names.paymentMethod(),
                    names.amount()));
      }
      OrderChange change =
          new OrderChange(
              orderId,
              record.partition(),
              changedAt,
              terms == null ? null : terms.deadline(),
              terms == null ? null : terms.policy(),
              policy == null ? null : terms,
              channel,
              paymentMethod,
              amount);
      return new DecodedRecord.Changed(
          change, keyFault == null ? null : keyFault + APPLIED, lenient.replaced());
    } catch (UnusableRecordException e) {
      return unusable(record, EventKind.CHANGED, String.valueOf(e.getMessage()), List.of(orderId));
    }
  }

  /** Any timestamp is accepted: rejecting the record could cancel a paid order. */
  private static Instant recordedAt(ConsumerRecord<?, ?> record, Instant now) {
    Instant usable = RecordTime.of(RecordOrigin.of(record), now);
    return usable == null ? Micros.roundUp(now) : usable;
  }

  private DecodedRecord settled(
      ConsumerRecord<?, ?> record,
      EventKind kind,
      Instant now,
      LenientFields fields,
      String orderId,
      @Nullable String keyFault) {
    RecordOrigin origin = RecordOrigin.of(record);
    Instant usableTime = RecordTime.of(origin, now);
    Instant recordedAt = recordedAt(record, now);
    String timeField = kind == EventKind.PAID ? names.paidAt() : names.closedAt();
    Instant stated = fields.timeOrNull(timeField);
    Instant time = stated == null ? fields.timeOfRecord(timeField, usableTime) : stated;
    OrderSettled event;
    if (kind == EventKind.PAID) {
      // Records that state the same time tell of the same payment, as an updated row does.
      String defaultId = stated == null ? origin.toString() : "paid-at-" + stated;
      String paymentId = fields.paymentIdOrElse(names.paymentId(), MAX_PAYMENT_ID, defaultId);
      event = new OrderSettled.Paid(orderId, record.partition(), recordedAt, paymentId, time);
    } else {
      String reason = fields.textOrNull(names.reason(), MAX_REASON);
      event = new OrderSettled.Closed(orderId, record.partition(), recordedAt, time, reason);
    }
    String fault = keyFault == null ? null : keyFault + APPLIED;
    return new DecodedRecord.Settled(event, fault, fields.replaced());
  }
}
