package io.ordertimeout.orders.intake.decoding;

import static io.ordertimeout.orders.intake.decoding.HostileRecords.CREATED;
import static io.ordertimeout.orders.intake.decoding.HostileRecords.PAID;
import static io.ordertimeout.orders.intake.decoding.HostileRecords.RECORDED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.order.OrderCreated;
import io.ordertimeout.orders.order.OrderSettled;
import io.ordertimeout.orders.order.PaymentTerms;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.GenerationMode;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import tools.jackson.databind.json.JsonMapper;

/**
 * Fuzzes the decoder: every record is decoded or dead-lettered, and every result is within bounds.
 */
class EventDecoderFuzzTest {

  private static final int MIB = 1024 * 1024;
  private static final int MAX_FAULT_LENGTH = 512;
  private static final Instant LAST_TIME = Instant.parse("9999-12-31T23:59:59Z");

  /** Characters that break lines, hide text or change its direction in a header or a log. */
  private static final String UNPRINTABLE = "[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Cn}]";

  private final OrderTimeoutProperties properties =
      new Binder(new MapConfigurationPropertySource(Map.of()))
          .bindOrCreate("order-timeout", OrderTimeoutProperties.class);
  private final EventDecoder decoder =
      new EventDecoder(properties, new PaymentDeadlines(properties), Decoders.of(properties));

  /** A decoder for each format; the last one by types. */
  private static final List<EventDecoder> FORMATS =
      Stream.of("plain", "cloudevents", "debezium", "outbox", "typed")
          .map(EventDecoderFuzzTest::decoderOf)
          .toList();

  private static EventDecoder decoderOf(String format) {
    Map<String, String> settings = new HashMap<>();
    boolean typed = format.equals("typed");
    for (String topic : new String[] {"created", "paid", "closed"}) {
      settings.put("order-timeout.intake.formats." + topic, typed ? "plain" : format);
    }
    if (typed) {
      settings.put("order-timeout.intake.types.from", "/reason");
      settings.put("order-timeout.intake.types.created", "CUSTOMER");
    }
    OrderTimeoutProperties properties =
        new Binder(new MapConfigurationPropertySource(settings))
            .bindOrCreate("order-timeout", OrderTimeoutProperties.class);
    return new EventDecoder(properties, new PaymentDeadlines(properties), Decoders.of(properties));
  }

  @Property
  void randomBytesAreHandled(
      @ForAll("noise") ConsumerRecord<byte @Nullable [], byte @Nullable []> record) {
    check(record);
  }

  @Provide
  Arbitrary<ConsumerRecord<byte @Nullable [], byte @Nullable []>> noise() {
    return HostileRecords.records(HostileRecords.noise());
  }

  @Property(tries = 5_000)
  void objectsWithArbitraryFieldsAreHandled(
      @ForAll("objects") ConsumerRecord<byte @Nullable [], byte @Nullable []> record) {
    check(record);
  }

  @Provide
  Arbitrary<ConsumerRecord<byte @Nullable [], byte @Nullable []>> objects() {
    return HostileRecords.records(HostileRecords.objects());
  }

  @Property(tries = 5_000)
  void corruptedEventsAreHandled(
      @ForAll("corrupted") ConsumerRecord<byte @Nullable [], byte @Nullable []> record) {
    check(record);
  }

  @Provide
  Arbitrary<ConsumerRecord<byte @Nullable [], byte @Nullable []>> corrupted() {
    return HostileRecords.records(HostileRecords.corrupted());
  }

  @Property(tries = 2_000)
  void everyFormatHandlesCorruptedEvents(
      @ForAll("corrupted") ConsumerRecord<byte @Nullable [], byte @Nullable []> record,
      @ForAll("envelopes") String envelope) {
    byte @Nullable [] value = record.value();
    String inner = value == null ? "null" : new String(value, UTF_8);
    String text = JsonMapper.shared().writeValueAsString(inner);
    byte[] wrapped = envelope.replace("EVENT", inner).replace("TEXT", text).getBytes(UTF_8);
    for (EventDecoder each : FORMATS) {
      for (byte @Nullable [] form : Arrays.asList(value, wrapped)) {
        checkBounds(
            new Decoded(
                each.decode(
                    HostileRecords.record(record.topic(), record.timestamp(), record.key(), form),
                    RECORDED)));
      }
    }
  }

  @Provide
  Arbitrary<String> envelopes() {
    return Arbitraries.of(
        "TEXT",
        "{\"schema\":{},\"payload\":EVENT}",
        "{\"schema\":{},\"payload\":TEXT}",
        "{\"op\":\"c\",\"after\":EVENT}",
        "{\"schema\":null,\"payload\":{\"op\":\"u\",\"after\":EVENT}}",
        "{\"op\":EVENT,\"after\":EVENT}",
        "{\"specversion\":\"1.0\",\"type\":\"t\",\"data\":EVENT}",
        "{\"specversion\":\"1.0\",\"type\":EVENT,\"data_base64\":TEXT}");
  }

  @Property(tries = 2_000)
  void paymentIsAppliedWithAnyOtherFieldsAndAnyTimestamp(
      @ForAll("oddValues") String oddValue, @ForAll long timestampMillis) {
    byte[] value =
        String.format("{\"orderId\":\"o\",\"paymentId\":%1$s,\"paidAt\":%1$s,\"x\":%1$s}", oddValue)
            .getBytes(UTF_8);

    Decoded decoded =
        check(HostileRecords.record(PAID, timestampMillis, "o".getBytes(UTF_8), value));

    assertThat(decoded.settled()).isInstanceOf(OrderSettled.Paid.class);
    assertThat(decoded.fault()).isNull();
  }

  @Provide
  Arbitrary<String> oddValues() {
    return Arbitraries.of(
        "7",
        "\"\"",
        "[]",
        "{\"a\":[1,2,{}]}",
        "\"\\u0000\"",
        "\"\\udc00\"",
        "\"" + "x".repeat(257) + "\"",
        "\"+999999999-12-31T23:59:59Z\"",
        "\"-999999999-01-01T00:00:00Z\"",
        "\"1969-12-31T23:59:59.9999999Z\"",
        "1e999999999",
        "1e2147483648",
        "-9e99999999999999999999",
        "1e-99999999999999999999",
        "null");
  }

  /** A mebibyte is the largest record that a topic accepts by default. */
  @Property(generation = GenerationMode.EXHAUSTIVE)
  void faultOfAMebibyteRecordIsShort(@ForAll("huge") String value, @ForAll("topics") String topic) {
    check(
        HostileRecords.record(
            topic, RECORDED.toEpochMilli(), "o".getBytes(UTF_8), value.getBytes(UTF_8)));
  }

  @Provide
  Arbitrary<String> topics() {
    return Arbitraries.of(CREATED, PAID, HostileRecords.CLOSED);
  }

  @Provide
  Arbitrary<String> huge() {
    String digits = "9".repeat(MIB);
    String text = "\"" + "x".repeat(MIB) + "\"";
    return Arbitraries.of(
        digits,
        text,
        "[".repeat(MIB),
        "{\"a\":".repeat(MIB / 5),
        "{\"orderId\":" + digits + "}",
        "{\"orderId\":" + text + "}",
        "{\"orderId\":" + "{\"a\":".repeat(20) + text + "}".repeat(21),
        "{\"orderId\":[" + "0,".repeat(MIB / 2) + "0]}",
        "{\"orderId\":\"" + "\\u0001".repeat(MIB / 6) + "\"}",
        "{\"orderId\":\"" + "\uD83D\uDED2".repeat(MIB / 4) + "\"}",
        "{" + text + ":1}",
        "{" + "\"orderId\":\"p\",".repeat(MIB / 14) + "\"orderId\":\"o\"}",
        "{\"orderId\":\"o\",\"createdAt\":" + text + ",\"paidAt\":" + text + "}",
        "{\"orderId\":\"o\",\"paymentId\":" + text + ",\"reason\":" + text + "}",
        "{\"orderId\":\"o\",\"timeout\":\"PT" + digits + "S\"}",
        "{\"orderId\":\"o\",\"timeout\":\"" + "P".repeat(MIB) + "\"}",
        "{\"orderId\":\"o\",\"channel\":" + text + "}",
        "{\"orderId\":\"o\",\"amount\":{\"value\":1,\"currency\":" + text + "}}",
        "{\"orderId\":\"o\",\"x\":" + text + "}",
        " ".repeat(MIB),
        "{\"orderId\":\"o\"}" + " ".repeat(MIB),
        "{\"orderId\":\"o\"}" + "x".repeat(MIB));
  }

  // Parsing a number takes quadratic time: for a mebibyte of digits, ten seconds or more.
  @Example
  void amountWithTooManyCharactersIsNotParsed() {
    for (String zeros : new String[] {"0".repeat(MIB), "0".repeat(100)}) {
      String event =
          "{\"orderId\":\"o\",\"amount\":{\"value\":\"1" + zeros + "\",\"currency\":\"EUR\"}}";

      Decoded decoded =
          check(
              HostileRecords.record(
                  CREATED, RECORDED.toEpochMilli(), "o".getBytes(UTF_8), event.getBytes(UTF_8)));

      assertThat(decoded.created()).extracting(OrderCreated::amount).isNull();
      assertThat(decoded.replacedFields()).isEqualTo(1);
    }
  }

  /** Decodes the record and checks the invariants of every result. */
  private Decoded check(ConsumerRecord<byte @Nullable [], byte @Nullable []> record) {
    Decoded decoded = decode(record);
    if (record.value() == null) {
      assertThat(decoded.record()).isInstanceOf(DecodedRecord.Ignored.class);
      return decoded;
    }
    OrderCreated created = decoded.created();
    OrderSettled settled = decoded.settled();
    String fault = decoded.fault();
    if (record.topic().equals(CREATED)) {
      assertThat(settled).isNull();
      assertThat(created == null).isEqualTo(fault != null);
    } else {
      assertThat(created).isNull();
      assertThat(settled != null || fault != null).isTrue();
      if (settled != null && fault != null) {
        assertThat(fault).endsWith("it was applied nevertheless");
      }
    }
    checkBounds(decoded);
    if (created != null && !isProducedLate(created)) {
      assertThat(again(record, json(created)).created()).isEqualTo(withPolicy(created, "PAY_BY"));
    }
    if (settled != null) {
      Decoded again = again(record, json(settled));
      assertThat(again.settled()).isEqualTo(settled);
      assertThat(again.replacedFields()).isZero();
    }
    return decoded;
  }

  private void checkBounds(Decoded decoded) {
    OrderCreated created = decoded.created();
    OrderSettled settled = decoded.settled();
    String fault = decoded.fault();
    if (fault != null) {
      assertThat(fault).isNotBlank().hasSizeLessThanOrEqualTo(MAX_FAULT_LENGTH);
      assertThat(fault).doesNotContainPattern(UNPRINTABLE);
    }
    if (created != null) {
      checkBounds(created);
    }
    if (settled != null) {
      checkBounds(settled);
    }
  }

  private void checkBounds(OrderCreated created) {
    checkText(created.orderId(), 128);
    checkTime(created.createdAt());
    checkTime(deadline(created));
    Duration timeout = Duration.between(created.createdAt(), deadline(created));
    assertThat(timeout)
        .isLessThanOrEqualTo(properties.deadline().maxTimeout().plus(1, ChronoUnit.MICROS));
    assertThat(timeout.isNegative() || timeout.isZero()).isEqualTo(isProducedLate(created));
    checkText(created.channel(), 256);
    checkText(created.paymentMethod(), 256);
    Amount amount = created.amount();
    if (amount != null) {
      assertThat(amount.value().toPlainString()).hasSizeLessThanOrEqualTo(43);
      assertThat(amount.currency()).matches("[A-Za-z0-9]{1,10}");
    }
  }

  /** Whether the order's record, which states its deadline alone, was produced after that. */
  private static boolean isProducedLate(OrderCreated created) {
    return created.terms().policy().equals("PAY_BY")
        && created.createdAt().equals(RECORDED)
        && !deadline(created).isAfter(RECORDED);
  }

  private static Instant deadline(OrderCreated created) {
    return Objects.requireNonNull(created.terms().deadline());
  }

  private static void checkBounds(OrderSettled settled) {
    checkText(settled.orderId(), 128);
    if (settled instanceof OrderSettled.Paid paid) {
      checkText(paid.paymentId(), 256);
      checkTime(paid.paidAt());
    } else if (settled instanceof OrderSettled.Closed closed) {
      checkText(closed.reason(), 1_024);
      checkTime(closed.closedAt());
    }
  }

  private static void checkText(@Nullable String text, int maxLength) {
    if (text != null) {
      assertThat(text.codePointCount(0, text.length())).isBetween(1, maxLength);
      assertThat(text).doesNotContain("\0");
      // An unpaired surrogate does not survive the round trip.
      assertThat(new String(text.getBytes(UTF_8), UTF_8)).isEqualTo(text);
    }
  }

  private static void checkTime(Instant time) {
    assertThat(time).isBetween(Instant.EPOCH, LAST_TIME);
    assertThat(time).isEqualTo(time.truncatedTo(ChronoUnit.MICROS));
  }

  private Decoded again(
      ConsumerRecord<byte @Nullable [], byte @Nullable []> record, Map<String, Object> event) {
    return decode(
        HostileRecords.record(
            record.topic(),
            record.timestamp(),
            String.valueOf(event.get("orderId")).getBytes(UTF_8),
            JsonMapper.shared().writeValueAsBytes(event)));
  }

  private static Map<String, Object> json(OrderCreated created) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("orderId", created.orderId());
    event.put("createdAt", created.createdAt().toString());
    event.put("payBy", deadline(created).toString());
    put(event, "channel", created.channel());
    put(event, "paymentMethod", created.paymentMethod());
    Amount amount = created.amount();
    if (amount != null) {
      event.put(
          "amount", Map.of("value", amount.value().toString(), "currency", amount.currency()));
    }
    return event;
  }

  private static Map<String, Object> json(OrderSettled settled) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("orderId", settled.orderId());
    if (settled instanceof OrderSettled.Paid paid) {
      event.put("paymentId", paid.paymentId());
      event.put("paidAt", paid.paidAt().toString());
    } else if (settled instanceof OrderSettled.Closed closed) {
      event.put("closedAt", closed.closedAt().toString());
      put(event, "reason", closed.reason());
    }
    return event;
  }

  private static void put(Map<String, Object> event, String field, @Nullable String text) {
    if (text != null) {
      event.put(field, text);
    }
  }

  private static OrderCreated withPolicy(OrderCreated created, String policy) {
    return new OrderCreated(
        created.orderId(),
        created.shard(),
        created.createdAt(),
        PaymentTerms.of(created.terms().deadline(), policy),
        created.channel(),
        created.paymentMethod(),
        created.amount(),
        null);
  }

  private Decoded decode(ConsumerRecord<byte @Nullable [], byte @Nullable []> record) {
    return new Decoded(decoder.decode(record, RECORDED));
  }
}
