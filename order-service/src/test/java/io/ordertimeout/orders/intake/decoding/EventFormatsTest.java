package io.ordertimeout.orders.intake.decoding;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.intake.decoding.DecodedRecord.Ignored;
import io.ordertimeout.orders.intake.decoding.DecodedRecord.Undecodable;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.order.OrderCreated;
import io.ordertimeout.orders.order.OrderSettled;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** Records as shops have them: CloudEvents, changes of tables, outbox events, several types. */
class EventFormatsTest {

  private static final Instant RECORDED = Instant.parse("2026-05-01T12:00:00Z");
  private static final String ORDER = "{\"orderId\":\"o\",\"channel\":\"web\"}";

  private final Map<String, String> settings = new HashMap<>();
  private final RecordHeaders headers = new RecordHeaders();

  @Test
  void aBinaryCloudEventHasItsDataInTheValue() {
    format("cloudevents");
    header("ce_specversion", "1.0");
    header("ce_type", "com.shop.order.created");

    assertThat(created("order-created", "o", ORDER).channel()).isEqualTo("web");
  }

  @Test
  void aStructuredCloudEventHasItsDataInside() {
    format("cloudevents");

    String event = "{\"specversion\":\"1.0\",\"id\":\"1\",\"type\":\"t\",\"source\":\"s\",%s}";
    assertThat(created("order-created", "o", event.formatted("\"data\":" + ORDER)).channel())
        .isEqualTo("web");
    String encoded = Base64.getEncoder().encodeToString(ORDER.getBytes(UTF_8));
    assertThat(
            created("order-created", "o", event.formatted("\"data_base64\":\"" + encoded + "\""))
                .channel())
        .isEqualTo("web");
    assertThat(fault("order-paid", "o", event.formatted("\"data_base64\":\"%\"")))
        .startsWith("data_base64 is not in Base64");
    assertThat(fault("order-paid", "o", event.formatted("\"data\":\"text\"")))
        .startsWith("the value is not an object but STRING");
  }

  @Test
  void whatIsNoCloudEventIsUnusable() {
    format("cloudevents");

    assertThat(fault("order-paid", "o", ORDER)).contains("it is no CloudEvent", "parked");
  }

  @ParameterizedTest
  @ValueSource(strings = {"c", "u", "r"})
  void theNewRowOfAChangedTableIsTheEvent(String operation) {
    format("debezium");
    settings.put("order-timeout.intake.fields.order-id", "id");
    settings.put("order-timeout.intake.fields.created-at", "created_at");
    settings.put("order-timeout.intake.fields.amount", "total");
    settings.put("order-timeout.intake.fields.currency", "currency");
    String row =
        "{\"id\":4711,\"created_at\":1777636800000000,\"total\":\"12.50\",\"currency\":\"EUR\"}";
    String change = "{\"before\":null,\"after\":%s,\"op\":\"%s\"}".formatted(row, operation);

    for (String value : new String[] {change, "{\"schema\":{},\"payload\":" + change + "}"}) {
      OrderCreated order = created("order-created", "{\"id\":4711}", value);
      assertThat(order.orderId()).isEqualTo("4711");
      assertThat(order.createdAt()).isEqualTo(Instant.parse("2026-05-01T12:00:00Z"));
      assertThat(order.amount()).isEqualTo(new Amount(new BigDecimal("12.50"), "EUR"));
    }
  }

  @Test
  void deletionsTruncationsAndTombstonesOfATableAreIgnored() {
    format("debezium");

    assertThat(decode("order-paid", "o", "{\"before\":{},\"after\":null,\"op\":\"d\"}"))
        .isInstanceOf(Ignored.class);
    assertThat(decode("order-paid", "o", "{\"op\":\"t\"}")).isInstanceOf(Ignored.class);
    assertThat(decode("order-paid", "o", null)).isInstanceOf(Ignored.class);
  }

  @Test
  void aRowWithoutItsEnvelopeIsUnusable() {
    format("debezium");

    assertThat(fault("order-paid", "\"o\"", ORDER))
        .startsWith("op is not one of Debezium's operations")
        .contains("parked");
    assertThat(fault("order-paid", "\"o\"", "{\"op\":\"c\"}"))
        .startsWith("the value is not an object but MISSING");
  }

  @ParameterizedTest
  @CsvSource({
    "1777636800, 2026-05-01T12:00:00Z",
    "1777636800123, 2026-05-01T12:00:00.123Z",
    "1777636800123456, 2026-05-01T12:00:00.123456Z",
    "1777636800123456789, 2026-05-01T12:00:00.123457Z", // rounded up, as all times
    "946684800, 2000-01-01T00:00:00Z",
    "32503679999, 2999-12-31T23:59:59Z",
    "946684800000, 2000-01-01T00:00:00Z",
    "32503679999999, 2999-12-31T23:59:59.999Z",
    "946684800000000, 2000-01-01T00:00:00Z",
    "32503679999999999, 2999-12-31T23:59:59.999999Z",
    "946684800000000000, 2000-01-01T00:00:00Z",
    "9223372036854775807, 2262-04-11T23:47:16.854776Z"
  })
  void aNumberTellsTheUnitOfATime(long number, Instant time) {
    format("debezium");

    OrderSettled event =
        settled(
            "order-paid",
            "o",
            "{\"op\":\"c\",\"after\":{\"orderId\":\"o\",\"paidAt\":%d}}".formatted(number));
    assertThat(event).extracting("paidAt").isEqualTo(time);
  }

  @ParameterizedTest
  @ValueSource(
      longs = {
        -1,
        0,
        946_684_799L,
        32_503_680_000L,
        946_684_799_999L,
        32_503_680_000_000L,
        946_684_799_999_999L,
        32_503_680_000_000_000L,
        946_684_799_999_999_999L
      })
  void aNumberBeyondTheBoundsOfEveryUnitIsNoTime(long number) {
    format("debezium");

    String row = "{\"op\":\"c\",\"after\":{\"orderId\":\"o\",\"createdAt\":%d}}";
    assertThat(fault("order-created", "o", row.formatted(number)))
        .isEqualTo(
            "createdAt is no time from 2000 to 2999 in seconds, or smaller units, since 1970: "
                + number);
  }

  @Test
  void aPaymentDeadlineBeforeTheInsertionOfItsRowMayBeALocalTime() {
    format("debezium");

    String row =
        "{\"op\":\"c\",\"source\":{\"ts_ms\":1777636800000},"
            + "\"after\":{\"orderId\":\"o\",\"payBy\":%d}}";
    assertThat(fault("order-created", "o", row.formatted(1_777_636_799_999L)))
        .startsWith("payBy is before the insertion of its row, so it may be a local time");
    assertThat(created("order-created", "o", row.formatted(1_777_636_800_001L)).terms().deadline())
        .isEqualTo(Instant.ofEpochMilli(1_777_636_800_001L));
  }

  @Test
  void theRowOfASnapshotIsNotComparedWithItsInsertion() {
    format("debezium");

    String row =
        "{\"op\":\"r\",\"source\":{\"ts_ms\":1777636800000},"
            + "\"after\":{\"orderId\":\"o\",\"createdAt\":1777608000000}}";
    assertThat(created("order-created", "o", row).createdAt())
        .isEqualTo(Instant.ofEpochMilli(1_777_608_000_000L));
  }

  @Test
  void aFlattenedRowWithItsSchemaIsAPlainEvent() {
    settings.put("order-timeout.intake.zones.created", "America/Los_Angeles");
    settings.put("order-timeout.intake.fields.order-id", "id");

    OrderCreated order =
        created(
            "order-created",
            "4711",
            """
            {"schema":{"type":"struct","fields":[
               {"field":"id","type":"int64"},
               {"field":"createdAt","type":"int64","name":"io.debezium.time.MicroTimestamp"}]},
             "payload":{"id":4711,"createdAt":1777611600000000}}
            """);
    assertThat(order.orderId()).isEqualTo("4711");
    assertThat(order.createdAt()).isEqualTo(RECORDED);
  }

  /** Debezium writes infinite times as the greatest numbers. */
  @Test
  void aNumberTooLargeForItsTypeMattersOnlyToItsField() {
    String row =
        """
        {"schema":{"type":"struct","fields":[
           {"field":"%1$s","type":"int64","name":"io.debezium.time.%2$s"}]},
         "payload":{"orderId":"o","%1$s":9223372036854775807}}
        """;
    for (String type : new String[] {"Date", "Timestamp", "MicroTimestamp", "NanoTimestamp"}) {
      assertThat(created("order-created", "o", row.formatted("valid_to", type)).orderId())
          .isEqualTo("o");
      assertThat(fault("order-created", "o", row.formatted("createdAt", type)))
          .startsWith("createdAt is ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "cloudevents", "debezium", "outbox"})
  void aTombstoneIsNoEventInAnyFormat(String format) {
    format(format);

    for (String topic : new String[] {"order-created", "order-paid", "order-closed"}) {
      assertThat(decode(topic, "o", null)).isInstanceOf(Ignored.class);
      assertThat(decode(topic, "o", "{\"schema\":null,\"payload\":null}"))
          .isInstanceOf(Ignored.class);
    }
  }

  @Test
  void theContentTypeDecidesBetweenTheModesOfCloudEvents() {
    format("cloudevents");
    header("ce_specversion", "1.0");
    String structured =
        "{\"specversion\":\"1.0\",\"id\":\"1\",\"type\":\"t\",\"source\":\"s\",\"data\":"
            + ORDER
            + "}";
    header("content-type", "application/cloudevents+json; charset=UTF-8");
    assertThat(created("order-created", "o", structured).channel()).isEqualTo("web");

    header("content-type", "application/json");
    assertThat(created("order-created", "o", ORDER).channel()).isEqualTo("web");
  }

  @Test
  void jsonBehindTheFrameOfJsonSchemaIsReadAsJson() {
    assertThat(created("order-created", "o", "\0\0\0\0\7" + ORDER).channel()).isEqualTo("web");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"orderId\":\"o\",\"channel\":\"web\"}",
        "\"{\\\"orderId\\\":\\\"o\\\",\\\"channel\\\":\\\"web\\\"}\"",
        "{\"schema\":{},\"payload\":{\"orderId\":\"o\",\"channel\":\"web\"}}",
        "{\"schema\":{},\"payload\":\"{\\\"orderId\\\":\\\"o\\\",\\\"channel\\\":\\\"web\\\"}\"}"
      })
  void thePayloadOfAnOutboxEventIsJsonOrTextWithJson(String value) {
    format("outbox");

    for (String key : new String[] {"o", "\"o\"", "{\"schema\":{},\"payload\":\"o\"}"}) {
      assertThat(created("order-created", key, value).channel()).isEqualTo("web");
    }
  }

  @Test
  void oneTopicHasEventsOfSeveralTypes() {
    oneTopic();

    assertThat(created("orders", "o", typed("OrderPlaced")).orderId()).isEqualTo("o");
    assertThat(settled("orders", "o", typed("PaymentCaptured")))
        .isInstanceOf(OrderSettled.Paid.class);
    assertThat(settled("orders", "o", typed("OrderCancelled")))
        .isInstanceOf(OrderSettled.Closed.class);
    assertThat(decode("orders", "o", typed("OrderShipped"))).isInstanceOf(Ignored.class);
  }

  @Test
  void anEventOfAnUnknownTypeMayBeAPayment() {
    oneTopic();

    assertThat(fault("orders", "o", typed("PaymentCapturedV2")))
        .startsWith("its type is not listed in order-timeout.intake.types: PaymentCapturedV2")
        .endsWith("the order of its key is parked, so not cancelled");
    assertThat(fault("orders", "o", ORDER)).startsWith("its type is missing from type");
    assertThat(fault("orders", "o", "garbage")).endsWith("parked, so not cancelled");
  }

  @Test
  void aCreationThatIsUnusableParksNothing() {
    oneTopic();

    assertThat(decode("orders", "o", "{\"orderId\":\"o\",\"type\":\"OrderPlaced\",\"timeout\":7}"))
        .isEqualTo(
            new Undecodable("timeout is not a string with an ISO-8601 duration: 7", Set.of()));
  }

  @Test
  void allOtherTypesCanBeIgnored() {
    oneTopic();
    settings.put("order-timeout.intake.types.ignored", "*");

    assertThat(decode("orders", "o", typed("AnythingElse"))).isInstanceOf(Ignored.class);
  }

  @ParameterizedTest
  @CsvSource({"plain,header:x-type,x-type", "cloudevents,,ce_type", "outbox,,eventType"})
  void theTypeCanBeInAHeader(String format, @Nullable String from, String header) {
    oneTopic();
    format(format);
    if (from == null) {
      settings.remove("order-timeout.intake.types.from");
      header("ce_specversion", "1.0");
    } else {
      settings.put("order-timeout.intake.types.from", from);
    }
    header(header, "PaymentCaptured");

    assertThat(settled("orders", "o", ORDER)).isInstanceOf(OrderSettled.Paid.class);
  }

  @Test
  void theStateInARowCanBeTheType() {
    oneTopic();
    format("debezium");
    settings.put("order-timeout.intake.types.from", "/status");
    settings.put("order-timeout.intake.types.created", "0");

    assertThat(
            created("orders", "o", "{\"op\":\"u\",\"after\":{\"orderId\":\"o\",\"status\":0}}")
                .orderId())
        .isEqualTo("o");
  }

  @Test
  void amountsKeepTheirDigitsInEveryFormat() {
    oneTopic();

    OrderCreated order =
        created(
            "orders",
            "o",
            """
            {"orderId":"o","type":"OrderPlaced","amount":{"value":12345678901234567.89,"currency":"EUR"}}
            """);
    assertThat(order.amount()).isEqualTo(new Amount(new BigDecimal("12345678901234567.89"), "EUR"));
  }

  @Test
  void theKeyDoesNotMatterIfAllPartitionsAreAwaited() {
    settings.put("order-timeout.expiry.watermark-scope", "all");

    assertThat(created("order-created", "another", ORDER).orderId()).isEqualTo("o");
    assertThat(decode("order-paid", null, ORDER))
        .isInstanceOfSatisfying(
            DecodedRecord.Settled.class, settled -> assertThat(settled.fault()).isNull());
  }

  private void oneTopic() {
    for (String topic : new String[] {"created", "paid", "closed"}) {
      settings.put("order-timeout.topics." + topic, "orders");
    }
    settings.put("order-timeout.intake.types.from", "type");
    settings.put("order-timeout.intake.types.created", "OrderPlaced");
    settings.put("order-timeout.intake.types.paid", "PaymentCaptured,PaymentAuthorized");
    settings.put("order-timeout.intake.types.closed", "OrderCancelled");
    settings.put("order-timeout.intake.types.ignored", "OrderShipped");
  }

  private static String typed(String type) {
    return "{\"orderId\":\"o\",\"type\":\"" + type + "\"}";
  }

  private void format(String format) {
    for (String topic : new String[] {"created", "paid", "closed"}) {
      settings.put("order-timeout.intake.formats." + topic, format);
    }
  }

  private void header(String name, String value) {
    headers.add(name, value.getBytes(UTF_8));
  }

  private OrderCreated created(String topic, String key, String value) {
    return ((DecodedRecord.Created) decode(topic, key, value)).order();
  }

  private OrderSettled settled(String topic, String key, String value) {
    return ((DecodedRecord.Settled) decode(topic, key, value)).event();
  }

  private String fault(String topic, String key, String value) {
    return ((Undecodable) decode(topic, key, value)).fault();
  }

  private DecodedRecord decode(String topic, @Nullable String key, @Nullable String value) {
    OrderTimeoutProperties properties =
        new Binder(new MapConfigurationPropertySource(settings))
            .bindOrCreate("order-timeout", OrderTimeoutProperties.class);
    return new EventDecoder(properties, new PaymentDeadlines(properties), Decoders.of(properties))
        .decode(
            new ConsumerRecord<>(
                topic,
                3,
                42,
                RECORDED.toEpochMilli(),
                TimestampType.CREATE_TIME,
                0,
                0,
                key == null ? null : key.getBytes(UTF_8),
                value == null ? null : value.getBytes(UTF_8),
                headers,
                Optional.empty()),
            RECORDED);
  }
}
