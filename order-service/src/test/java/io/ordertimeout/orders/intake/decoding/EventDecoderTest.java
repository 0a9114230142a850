package io.ordertimeout.orders.intake.decoding;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.order.OrderCreated;
import io.ordertimeout.orders.order.OrderSettled;
import io.ordertimeout.orders.order.PaymentTerms;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class EventDecoderTest {

  private static final Instant RECORDED = Instant.parse("2026-05-01T12:00:00Z");

  private final EventDecoder decoder = decoder(Map.of());

  @Test
  void orderRequiresOnlyItsId() {
    OrderCreated order = created("{\"orderId\":\"o\"}");

    assertThat(order.createdAt()).isEqualTo(RECORDED);
    assertThat(order.terms().deadline()).isEqualTo(RECORDED.plusSeconds(900));
    assertThat(order.terms().policy()).isEqualTo("DEFAULT");
    assertThat(order.shard()).isEqualTo(3);
  }

  @Test
  void everyFieldIsRead() {
    OrderCreated order =
        created(
            """
            {"orderId":"o","createdAt":"2026-05-01T13:59:00+02:00","timeout":"PT30S",
             "channel":"web","paymentMethod":"card","amount":{"value":12.50,"currency":"EUR"},
             "somethingElse":[{}]}
            """);

    assertThat(order)
        .isEqualTo(
            new OrderCreated(
                "o",
                3,
                Instant.parse("2026-05-01T11:59:00Z"),
                PaymentTerms.of(Instant.parse("2026-05-01T11:59:30Z"), "TIMEOUT"),
                "web",
                "card",
                new Amount(new BigDecimal("12.50"), "EUR"),
                null));
  }

  @Test
  void orderProducedAfterItsDeadlineIsDueAtOnce() {
    OrderCreated order = created("{\"orderId\":\"o\",\"payBy\":\"2026-05-01T11:00:00Z\"}");

    assertThat(order.terms().deadline()).isEqualTo(Instant.parse("2026-05-01T11:00:00Z"));
  }

  @Test
  void payByTakesPrecedenceOverTimeout() {
    OrderCreated order =
        created("{\"orderId\":\"o\",\"payBy\":\"2026-05-01T12:01:00Z\",\"timeout\":\"PT1H\"}");

    assertThat(order.terms().deadline()).isEqualTo(Instant.parse("2026-05-01T12:01:00Z"));
  }

  @Test
  void deadlineIsRoundedUpToMicroseconds() {
    OrderCreated order =
        created("{\"orderId\":\"o\",\"payBy\":\"2026-05-01T12:01:00.123456001Z\"}");

    assertThat(order.terms().deadline()).isEqualTo(Instant.parse("2026-05-01T12:01:00.123457Z"));
  }

  @Test
  void firstMatchingPolicyApplies() {
    EventDecoder withPolicies =
        decoder(
            Map.of(
                "order-timeout.deadline.policies[0].name", "bank transfer",
                "order-timeout.deadline.policies[0].payment-method", "transfer",
                "order-timeout.deadline.policies[0].timeout", "3d",
                "order-timeout.deadline.policies[1].name", "web",
                "order-timeout.deadline.policies[1].channel", "web",
                "order-timeout.deadline.policies[1].timeout", "10m"));

    assertThat(
            decode(
                    withPolicies,
                    record(
                        "order-created",
                        "o",
                        "{\"orderId\":\"o\",\"channel\":\"web\",\"paymentMethod\":\"transfer\"}"))
                .created())
        .extracting("terms.policy")
        .isEqualTo("bank transfer");
    assertThat(
            decode(
                    withPolicies,
                    record("order-created", "o", "{\"orderId\":\"o\",\"channel\":\"web\"}"))
                .created())
        .extracting("terms.deadline")
        .isEqualTo(RECORDED.plusSeconds(600));
  }

  @Test
  void locationsOfFieldsAreConfigurable() {
    EventDecoder mapped =
        decoder(
            Map.of(
                "order-timeout.intake.fields.order-id", "/order/id",
                "order-timeout.intake.fields.created-at", "placed"));

    Decoded decoded =
        decode(
            mapped,
            record(
                "order-created",
                "o",
                "{\"order\":{\"id\":\"o\"},\"placed\":\"2026-05-01T11:00:00Z\"}"));

    assertThat(decoded.created())
        .extracting("createdAt")
        .isEqualTo(Instant.parse("2026-05-01T11:00:00Z"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nonsense",
        "[]",
        "\"text\"",
        "{\"orderId\":\"o\"} trailing",
        "{}",
        "{\"orderId\":null}",
        "{\"orderId\":7}",
        "{\"orderId\":\"\"}",
        "{\"orderId\":\"o\\u0000\"}",
        "{\"orderId\":\"\\ud800\"}",
        "{\"orderId\":\"o\",\"createdAt\":\"yesterday\"}",
        "{\"orderId\":\"o\",\"createdAt\":\"2026-05-01T12:00:00\"}",
        "{\"orderId\":\"o\",\"createdAt\":1777636800}",
        "{\"orderId\":\"o\",\"createdAt\":\"+999999999-12-31T23:59:59Z\"}",
        "{\"orderId\":\"o\",\"createdAt\":\"-999999999-01-01T00:00:00Z\"}",
        "{\"orderId\":\"o\",\"timeout\":\"PT-1S\"}",
        "{\"orderId\":\"o\",\"timeout\":\"PT0S\"}",
        "{\"orderId\":\"o\",\"timeout\":\"P100000D\"}",
        "{\"orderId\":\"o\",\"timeout\":\"PT9999999999999999999H\"}",
        "{\"orderId\":\"o\",\"timeout\":30}",
        "{\"orderId\":\"o\",\"createdAt\":\"2026-05-01T12:00:00Z\",\"payBy\":\"2026-05-01T11:00:00Z\"}",
        "{\"orderId\":\"o\",\"payBy\":\"+999999999-12-31T23:59:59Z\"}",
      })
  void unusableOrderIsADeadLetterWithAReason(String value) {
    Decoded decoded = decode(record("order-created", "o", value));

    assertThat(decoded.fault()).isNotBlank();
    assertThat(decoded.created()).isNull();
    assertThat(decoded.settled()).isNull();
  }

  @Test
  void reasonNamesTheFieldAndTruncatesALongValue() {
    Decoded decoded =
        decode(
            record(
                "order-created",
                "o",
                "{\"orderId\":\"o\",\"timeout\":\"" + "x".repeat(5_000) + "\"}"));

    assertThat(decoded.fault()).startsWith("timeout is not an ISO-8601 duration: \"xxx");
    assertThat(decoded.fault()).hasSizeLessThan(200);
  }

  @Test
  void orderIdHas1To128Characters() {
    String longest = "\uD83D\uDED2".repeat(128);
    assertThat(decode(record("order-created", longest, json(longest))).fault()).isNull();

    String tooLong = "x".repeat(129);
    assertThat(decode(record("order-created", tooLong, json(tooLong))).fault())
        .startsWith("orderId has 129 characters, not 1 to 128");
  }

  @ParameterizedTest
  @MethodSource("unknownFields")
  void unknownFieldsNeverMakeARecordUnusable(String field) {
    String event = "{\"orderId\":\"o\"," + field + "}";

    assertThat(decode(record("order-created", "o", event)).created()).isNotNull();
    assertThat(decode(record("order-paid", "o", event)).settled()).isNotNull();
  }

  static Stream<String> unknownFields() {
    return Stream.of(
        "\"x\":" + "[".repeat(100_000) + "]".repeat(100_000),
        "\"x\":" + "{\"a\":".repeat(100_000) + "1" + "}".repeat(100_000),
        "\"x\":" + "9".repeat(100_000),
        "\"x\":0." + "1".repeat(100_000),
        "\"x\":1e2147483648",
        "\"x\":1,\"x\":2",
        "\"" + "x".repeat(100_000) + "\":1",
        "\"\":1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"order-created", "order-paid", "order-closed"})
  void tombstonesAreNoEvents(String topic) {
    assertThat(decode(record(topic, "o", null)).record()).isInstanceOf(DecodedRecord.Ignored.class);
  }

  @Test
  void aPaymentThatNamesTwoOrdersPutsBothInDoubt() {
    Decoded decoded = decode(record("order-paid", "q", "{\"orderId\":\"o\",\"orderId\":\"p\"}"));

    assertThat(decoded.record())
        .isEqualTo(
            new DecodedRecord.Undecodable(
                "orderId appears more than once: \"o\", \"p\";"
                    + " the orders of these ids are parked, so not cancelled",
                Set.of("o", "p", "q")));
  }

  @Test
  void aCreatedOrderWithTwoIdsIsADeadLetter() {
    Decoded decoded = decode(record("order-created", "o", "{\"orderId\":\"p\",\"orderId\":\"o\"}"));

    assertThat(decoded.fault()).isEqualTo("orderId appears more than once: \"p\", \"o\"");
    assertThat(decoded.orderInDoubt()).isNull();
  }

  @Test
  void policiesMatchWhateverTheCase() {
    EventDecoder withPolicy =
        decoder(
            Map.of(
                "order-timeout.deadline.policies[0].name", "bank transfer",
                "order-timeout.deadline.policies[0].payment-method", "transfer",
                "order-timeout.deadline.policies[0].timeout", "3d"));

    String event = "{\"orderId\":\"o\",\"paymentMethod\":\"Transfer\"}";
    assertThat(decode(withPolicy, record("order-created", "o", event)).created())
        .extracting("terms.policy", "paymentMethod")
        .containsExactly("bank transfer", "Transfer");
  }

  @ParameterizedTest
  @ValueSource(strings = {"order-paid", "order-closed"})
  void undecodablePaymentOrClosingPutsTheOrderOfItsKeyInDoubt(String topic) {
    for (String value : new String[] {"", "Obj\u0001avro", "{\"order_id\":\"o\"}"}) {
      Decoded decoded = decode(record(topic, "o", value));

      assertThat(decoded.orderInDoubt()).isEqualTo("o");
      assertThat(decoded.fault()).contains("is parked");
    }
  }

  @Test
  void keyThatIsNoOrderIdPutsNoOrderInDoubt() {
    for (String key : new String[] {null, "", "o\u0000", "x".repeat(129), "x".repeat(1_000)}) {
      assertThat(decode(record("order-paid", key, "?")).orderInDoubt()).isNull();
    }
    assertThat(decode(record("order-created", "o", "?")).orderInDoubt()).isNull();
    assertThat(decode(record("order-paid", "o", json("o"))).orderInDoubt()).isNull();
  }

  @Test
  void orderWithAnotherKeyIsDeadLetteredAndNotWatched() {
    Decoded decoded = decode(record("order-created", "other", json("o")));

    assertThat(decoded.created()).isNull();
    assertThat(decoded.fault()).contains("the key is not the order id");
  }

  @Test
  void paymentWithoutAKeyIsAppliedAndDeadLettered() {
    Decoded decoded = decode(record("order-paid", null, json("o")));

    assertThat(decoded.settled()).isNotNull();
    assertThat(decoded.fault()).contains("the key is missing", "applied nevertheless");
  }

  @Test
  void whatAReplayLeavesOutFollowsFromTheRecordThatItRepeats() {
    Instant origin = RECORDED.minusSeconds(3_600);
    ConsumerRecord<byte @Nullable [], byte @Nullable []> payment =
        replay("order-paid", origin.toEpochMilli());
    assertThat(decode(payment).settled())
        .isEqualTo(new OrderSettled.Paid("o", 3, origin, "order-paid-1-7", origin));
    assertThat(decode(replay("order-closed", origin.toEpochMilli())).settled())
        .isEqualTo(new OrderSettled.Closed("o", 3, origin, origin, null));
    assertThat(decode(replay("order-created", origin.toEpochMilli())).created())
        .extracting(OrderCreated::createdAt)
        .isEqualTo(origin);
    assertThat(decode(replay("order-created", -1)).fault())
        .contains("createdAt is missing", "1969-12-31T23:59:59.999Z");
  }

  @ParameterizedTest
  @ValueSource(strings = {"x-origin-topic", "x-origin-partition", "x-origin-offset"})
  void withoutAUsableOriginARecordIsItsOwn(String header) {
    ConsumerRecord<byte @Nullable [], byte @Nullable []> payment = replay("order-paid", 0);
    payment.headers().remove(header);

    assertThat(decode(payment).settled())
        .isEqualTo(new OrderSettled.Paid("o", 3, RECORDED, "order-paid-3-42", RECORDED));

    payment.headers().add(header, "x".repeat(250).getBytes(UTF_8));
    assertThat(decode(payment).settled())
        .isEqualTo(new OrderSettled.Paid("o", 3, RECORDED, "order-paid-3-42", RECORDED));
  }

  /** Of a dead letter of an earlier version, which did not keep it. */
  @Test
  void aReplayWithoutTheTimestampOfItsOriginHasItsOwn() {
    ConsumerRecord<byte @Nullable [], byte @Nullable []> payment = replay("order-paid", 0);
    payment.headers().remove("x-origin-timestamp");

    assertThat(decode(payment).settled())
        .isEqualTo(new OrderSettled.Paid("o", 3, RECORDED, "order-paid-1-7", RECORDED));
  }

  private static ConsumerRecord<byte @Nullable [], byte @Nullable []> replay(
      String topic, long timestampMillis) {
    ConsumerRecord<byte @Nullable [], byte @Nullable []> record = record(topic, "o", json("o"));
    record
        .headers()
        .add("x-origin-topic", topic.getBytes(UTF_8))
        .add("x-origin-partition", "1".getBytes(UTF_8))
        .add("x-origin-offset", "7".getBytes(UTF_8))
        .add("x-origin-timestamp", Long.toString(timestampMillis).getBytes(UTF_8));
    return record;
  }

  @Test
  void aPaymentWithoutAnIdIsTheSameAsAnotherOfTheSameTime() {
    String payment = "{\"orderId\":\"o\",\"paidAt\":\"2026-05-01T13:59:00+02:00\"}";

    assertThat(decode(record("order-paid", "o", payment)).settled())
        .extracting("paymentId")
        .isEqualTo("paid-at-2026-05-01T11:59:00Z");
  }

  @Test
  void unusableFieldsOfAPaymentAreReplacedAndCounted() {
    Decoded decoded =
        decode(
            record(
                "order-paid", "o", "{\"orderId\":\"o\",\"paymentId\":7,\"paidAt\":\"tomorrow\"}"));

    assertThat(decoded.fault()).isNull();
    assertThat(decoded.replacedFields()).isEqualTo(2);
    assertThat(decoded.settled())
        .isEqualTo(new OrderSettled.Paid("o", 3, RECORDED, "order-paid-3-42", RECORDED));
  }

  @Test
  void unusableFieldsOfAClosingAreReplacedAndCounted() {
    Decoded decoded =
        decode(record("order-closed", "o", "{\"orderId\":\"o\",\"closedAt\":{},\"reason\":[]}"));

    assertThat(decoded.replacedFields()).isEqualTo(2);
    assertThat(decoded.settled())
        .isEqualTo(new OrderSettled.Closed("o", 3, RECORDED, RECORDED, null));
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1, 1_777_636_800L, 1_777_464_000_000L, 4_102_444_800_000L})
  void statedCreationIsUsedWhateverTheTimestampOfItsRecord(long timestampMillis) {
    Decoded decoded =
        decode(
            record(
                "order-created",
                timestampMillis,
                "{\"orderId\":\"o\",\"createdAt\":\"2026-05-01T11:59:00Z\"}"));

    assertThat(decoded.fault()).isNull();
    assertThat(decoded.created())
        .extracting(order -> order.terms().deadline())
        .isEqualTo(Instant.parse("2026-05-01T12:14:00Z"));
  }

  @ParameterizedTest
  @CsvSource({
    "-1, 1969-12-31T23:59:59.999Z",
    "0, 1970-01-01T00:00:00Z",
    "1777636800, 1970-01-21T13:47:16.800Z",
    "4102444800000, 2100-01-01T00:00:00Z",
    "9223372036854775807, +292278994-08-17T07:12:55.807Z"
  })
  void orderWithoutAnyUsableCreationTimeIsDeadLettered(long timestampMillis, String named) {
    Decoded decoded = decode(record("order-created", timestampMillis, json("o")));

    assertThat(decoded.created()).isNull();
    assertThat(decoded.fault()).contains("createdAt is missing", named);
  }

  @Test
  void orderCreatedInTheFutureIsDeadLettered() {
    Decoded decoded =
        decode(
            record(
                "order-created",
                4_102_444_800_000L,
                "{\"orderId\":\"o\",\"createdAt\":\"2100-01-01T00:00:00Z\"}"));

    assertThat(decoded.created()).isNull();
    assertThat(decoded.fault()).contains("createdAt", "2100-01-01T00:00:00Z");
  }

  @Test
  void deadlineIsAtMostTheLongestTimeoutAndADayAfterTheIntake() {
    String latest =
        "{\"orderId\":\"o\",\"createdAt\":\"2026-05-02T12:00:00Z\",\"timeout\":\"P400D\"}";
    assertThat(created(latest).terms().deadline()).isEqualTo(RECORDED.plus(Duration.ofDays(401)));

    String later = latest.replace("12:00:00Z", "12:00:01Z");
    assertThat(decode(record("order-created", "o", later)).created()).isNull();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1_777_636_800L, 4_102_444_800_000L, Long.MIN_VALUE, Long.MAX_VALUE})
  void unusableTimestampOfAPaymentIsReplacedByTheTimeOfIntakeAndCounted(long timestampMillis) {
    Decoded payment =
        decode(record("order-paid", timestampMillis, "{\"orderId\":\"o\",\"paymentId\":\"p\"}"));
    assertThat(payment.settled()).isEqualTo(new OrderSettled.Paid("o", 3, RECORDED, "p", RECORDED));
    assertThat(payment.replacedFields()).isEqualTo(1);

    Decoded closing = decode(record("order-closed", timestampMillis, json("o")));
    assertThat(closing.settled())
        .isEqualTo(new OrderSettled.Closed("o", 3, RECORDED, RECORDED, null));
    assertThat(closing.replacedFields()).isEqualTo(1);
  }

  @Test
  void unusableTimestampOfAPaymentThatStatesItsTimeReplacesNothing() {
    Decoded payment =
        decode(record("order-paid", -1, "{\"orderId\":\"o\",\"paidAt\":\"2026-05-01T11:00:00Z\"}"));

    assertThat(payment.settled()).extracting("paidAt").isEqualTo(RECORDED.minusSeconds(3_600));
    assertThat(payment.replacedFields()).isZero();
  }

  @Test
  void randomBytesAreDeadLetters() {
    Random random = new Random(20260501);
    for (int i = 0; i < 20_000; i++) {
      byte[] value = new byte[random.nextInt(64)];
      random.nextBytes(value);
      assertThat(decode(record("order-paid", "o".getBytes(UTF_8), value)).fault())
          .as("bytes %s", value)
          .isNotNull();
    }
  }

  @Test
  void anyCorruptedByteLeavesEitherAnOrderOrAFault() {
    byte[] valid =
        """
        {"orderId":"o","createdAt":"2026-05-01T12:00:00Z","timeout":"PT30S","amount":{"value":1.5,"currency":"EUR"}}
        """
            .getBytes(UTF_8);
    for (int i = 0; i < valid.length; i++) {
      for (int replacement = 0; replacement < 256; replacement++) {
        byte[] corrupted = valid.clone();
        corrupted[i] = (byte) replacement;
        Decoded decoded = decode(record("order-created", "o".getBytes(UTF_8), corrupted));
        assertThat(decoded.created() == null).isEqualTo(decoded.fault() != null);
      }
    }
  }

  private OrderCreated created(String value) {
    Decoded decoded = decode(record("order-created", "o", value));
    assertThat(decoded.fault()).isNull();
    return Objects.requireNonNull(decoded.created());
  }

  private static String json(String orderId) {
    return "{\"orderId\":\"" + orderId + "\"}";
  }

  private static EventDecoder decoder(Map<String, String> settings) {
    OrderTimeoutProperties properties =
        new Binder(new MapConfigurationPropertySource(new LinkedHashMap<>(settings)))
            .bindOrCreate("order-timeout", OrderTimeoutProperties.class);
    return new EventDecoder(properties, new PaymentDeadlines(properties), Decoders.of(properties));
  }

  private static ConsumerRecord<byte @Nullable [], byte @Nullable []> record(
      String topic, @Nullable String key, @Nullable String value) {
    return record(
        topic,
        key == null ? null : key.getBytes(UTF_8),
        value == null ? null : value.getBytes(UTF_8));
  }

  private static ConsumerRecord<byte @Nullable [], byte @Nullable []> record(
      String topic, byte @Nullable [] key, byte @Nullable [] value) {
    return record(topic, RECORDED.toEpochMilli(), key, value);
  }

  private static ConsumerRecord<byte @Nullable [], byte @Nullable []> record(
      String topic, long timestampMillis, String value) {
    return record(topic, timestampMillis, "o".getBytes(UTF_8), value.getBytes(UTF_8));
  }

  private static ConsumerRecord<byte @Nullable [], byte @Nullable []> record(
      String topic, long timestampMillis, byte @Nullable [] key, byte @Nullable [] value) {
    return new ConsumerRecord<>(
        topic,
        3,
        42,
        timestampMillis,
        TimestampType.CREATE_TIME,
        0,
        0,
        key,
        value,
        new RecordHeaders(),
        Optional.empty());
  }

  private Decoded decode(ConsumerRecord<byte @Nullable [], byte @Nullable []> record) {
    return decode(decoder, record);
  }

  private static Decoded decode(
      EventDecoder decoder, ConsumerRecord<byte @Nullable [], byte @Nullable []> record) {
    return new Decoded(decoder.decode(record, RECORDED));
  }
}
