package io.ordertimeout.orders.intake.decoding;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.intake.decoding.DecodedRecord.Undecodable;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.order.OrderCreated;
import io.ordertimeout.orders.order.OrderSettled;
import io.ordertimeout.orders.platform.avro.RegistryServer;
import io.ordertimeout.orders.platform.avro.SchemaRegistryUnavailableException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** Events in Avro, by themselves and in the envelopes of Debezium. */
class AvroEventsTest {

  private static final Instant NOW = Instant.parse("2026-05-01T12:00:00Z");

  private static final Schema MONEY =
      SchemaBuilder.record("Money")
          .fields()
          .name("value")
          .type(LogicalTypes.decimal(10, 2).addToSchema(Schema.create(Schema.Type.BYTES)))
          .noDefault()
          .requiredString("currency")
          .endRecord();

  private static final Schema ORDER =
      SchemaBuilder.record("Order")
          .namespace("shop")
          .fields()
          .requiredLong("orderId")
          .name("createdAt")
          .type(LogicalTypes.timestampMicros().addToSchema(Schema.create(Schema.Type.LONG)))
          .noDefault()
          .requiredLong("payBy")
          .optionalString("channel")
          .name("amount")
          .type(MONEY)
          .noDefault()
          .endRecord();

  private static final Schema CHANGE =
      SchemaBuilder.record("Envelope")
          .fields()
          .name("after")
          .type()
          .optional()
          .type(ORDER)
          .requiredString("op")
          .endRecord();

  private static final Schema KEY =
      SchemaBuilder.record("Key").fields().requiredLong("id").endRecord();

  private static final GenericRecord EVENT =
      new GenericRecordBuilder(ORDER)
          .set("orderId", 4711L)
          .set("createdAt", 1_777_636_800_123_456L)
          .set("payBy", 1_777_637_000_000L)
          .set("channel", "web")
          .set(
              "amount",
              new GenericRecordBuilder(MONEY)
                  .set(
                      "value",
                      ByteBuffer.wrap(new BigDecimal("12.50").unscaledValue().toByteArray()))
                  .set("currency", "EUR")
                  .build())
          .build();

  private static final RegistryServer REGISTRY = new RegistryServer();
  private static final EventDecoder DECODER = decoder(Map.of());

  private final Map<String, String> settings = new HashMap<>();

  @BeforeContainer
  static void start() {
    REGISTRY.has(1, ORDER);
    REGISTRY.has(2, CHANGE);
    REGISTRY.has(3, KEY);
    REGISTRY.has(4, Schema.create(Schema.Type.STRING));
  }

  @AfterContainer
  static void stop() {
    REGISTRY.close();
  }

  @Example
  void aRecordIsTheEvent() {
    assertOrder(decode("order-created", utf8("4711"), RegistryServer.framed(1, ORDER, EVENT)));
  }

  @Example
  void theRowAfterAChangeIsTheEvent() {
    settings.put("order-timeout.intake.formats.created", "debezium");
    GenericRecord change =
        new GenericRecordBuilder(CHANGE).set("after", EVENT).set("op", "u").build();

    assertOrder(
        decode(
            "order-created",
            RegistryServer.framed(3, KEY, new GenericRecordBuilder(KEY).set("id", 4711L).build()),
            RegistryServer.framed(2, CHANGE, change)));
    change.put("after", null);
    change.put("op", "d");
    assertThat(decode("order-created", utf8("4711"), RegistryServer.framed(2, CHANGE, change)))
        .isInstanceOf(DecodedRecord.Ignored.class);
  }

  /** As Avro's converter of Kafka Connect and Avro itself write columns without a zone. */
  @Example
  void aTimeWithoutAZoneNeedsTheZoneOfItsTopic() {
    Schema ofColumn = Schema.create(Schema.Type.LONG);
    ofColumn.addProp("connect.name", "io.debezium.time.MicroTimestamp");
    Schema local = LogicalTypes.localTimestampMicros().addToSchema(Schema.create(Schema.Type.LONG));
    int id = 10;
    for (Schema type : new Schema[] {ofColumn, local}) {
      Schema row =
          SchemaBuilder.record("Row")
              .fields()
              .requiredString("orderId")
              .name("createdAt")
              .type(type)
              .noDefault()
              .endRecord();
      REGISTRY.has(id, row);
      byte[] value =
          RegistryServer.framed(
              id,
              row,
              new GenericRecordBuilder(row)
                  .set("orderId", "o")
                  .set("createdAt", 1_777_611_600_000_000L)
                  .build());
      settings.clear();
      assertThat(decode("order-created", utf8("o"), value))
          .isEqualTo(
              new Undecodable(
                  "createdAt is a local time without an offset, and no zone is configured for its"
                      + " topic: \"2026-05-01T05:00\"",
                  Set.of()));
      settings.put("order-timeout.intake.zones.created", "America/Los_Angeles");
      assertThat(((DecodedRecord.Created) decode("order-created", utf8("o"), value)).order())
          .extracting(OrderCreated::createdAt)
          .isEqualTo(Instant.parse("2026-05-01T12:00:00Z"));
      id++;
    }
  }

  private static void assertOrder(DecodedRecord decoded) {
    assertThat(decoded).isInstanceOf(DecodedRecord.Created.class);
    OrderCreated order = ((DecodedRecord.Created) decoded).order();
    assertThat(order.orderId()).isEqualTo("4711");
    assertThat(order.createdAt()).isEqualTo(Instant.parse("2026-05-01T12:00:00.123456Z"));
    assertThat(order.terms().deadline()).isEqualTo(Instant.parse("2026-05-01T12:03:20Z"));
    assertThat(order.channel()).isEqualTo("web");
    assertThat(order.amount()).isEqualTo(new Amount(new BigDecimal("12.50"), "EUR"));
  }

  @Example
  void theTypeOfARecordIsTheNameOfItsSchema() {
    settings.put("order-timeout.topics.paid", "order-created");
    settings.put("order-timeout.intake.types.created", "shop.Order");
    settings.put("order-timeout.intake.types.paid", "Key");

    assertOrder(decode("order-created", utf8("4711"), RegistryServer.framed(1, ORDER, EVENT)));
    settings.put("order-timeout.intake.fields.order-id", "id");
    assertThat(
            decode(
                "order-created",
                utf8("5"),
                RegistryServer.framed(3, KEY, new GenericRecordBuilder(KEY).set("id", 5L).build())))
        .isInstanceOf(DecodedRecord.Settled.class);
  }

  @Example
  void aPaymentNeedsOnlyItsOrder() {
    DecodedRecord decoded =
        decode("order-paid", utf8("4711"), RegistryServer.framed(1, ORDER, EVENT));

    OrderSettled payment = ((DecodedRecord.Settled) decoded).event();
    assertThat(payment.orderId()).isEqualTo("4711");
  }

  @Example
  void whatIsNotAvroIsUnusableAndItsOrderParked() {
    byte[] key = RegistryServer.framed(4, Schema.create(Schema.Type.STRING), "o");

    assertFault(key, utf8("{}"), "it does not begin with a zero byte and the id of a schema");
    assertFault(key, new byte[] {0, 0, 0, 9}, "it does not begin with a zero byte");
    assertFault(key, new byte[] {0, 0, 0, 0, 9}, "does not know /schemas/ids/9");
    assertFault(key, new byte[] {0, 0, 0, 0, 1}, "its data ends too early");
    assertFault(key, new byte[] {0, 0, 0, 0, 4, 2, 65}, "the value is not an object but STRING");
  }

  private void assertFault(byte[] key, byte[] value, String fault) {
    Undecodable decoded = (Undecodable) decode("order-paid", key, value);
    assertThat(decoded.fault()).contains(fault);
    assertThat(decoded.ordersInDoubt()).containsExactly("o");
  }

  @Example
  void anUnusableKeyParksNoOrder() {
    Undecodable decoded =
        (Undecodable) decode("order-paid", new byte[] {0, 0, 0, 0, 9, 2}, utf8("x"));

    assertThat(decoded.ordersInDoubt()).isEmpty();
  }

  @Example
  void anOutageOfTheRegistryIsNotAFaultOfTheRecord() {
    settings.put("order-timeout.schema-registry.url", "http://localhost:1");

    assertThatThrownBy(
            () -> decode("order-paid", utf8("o"), RegistryServer.framed(1, ORDER, EVENT)))
        .isInstanceOf(SchemaRegistryUnavailableException.class);
  }

  @Property(tries = 2_000)
  void corruptedRecordsAreHandled(
      @ForAll int at, @ForAll byte with, @ForAll byte[] noise, @ForAll boolean isNoise) {
    byte[] value = RegistryServer.framed(1, ORDER, EVENT);
    if (isNoise) {
      value = ByteBuffer.allocate(5 + noise.length).put(Arrays.copyOf(value, 5)).put(noise).array();
    } else {
      value[Math.floorMod(at, value.length - 5) + 5] = with;
    }

    for (String topic : new String[] {"order-created", "order-paid"}) {
      assertThat(DECODER.decode(record(topic, utf8("o"), value), NOW))
          .isNotInstanceOf(DecodedRecord.Ignored.class);
    }
  }

  private DecodedRecord decode(String topic, byte @Nullable [] key, byte[] value) {
    return decoder(settings).decode(record(topic, key, value), NOW);
  }

  private static EventDecoder decoder(Map<String, String> settings) {
    MapConfigurationPropertySource source = new MapConfigurationPropertySource();
    for (String topic : new String[] {"created", "paid", "closed"}) {
      source.put("order-timeout.intake.encodings." + topic, "avro");
    }
    source.put("order-timeout.schema-registry.url", REGISTRY.url());
    settings.forEach(source::put);
    OrderTimeoutProperties properties =
        new Binder(source).bindOrCreate("order-timeout", OrderTimeoutProperties.class);
    return new EventDecoder(properties, new PaymentDeadlines(properties), Decoders.of(properties));
  }

  private static ConsumerRecord<byte @Nullable [], byte @Nullable []> record(
      String topic, byte @Nullable [] key, byte[] value) {
    return HostileRecords.record(topic, NOW.toEpochMilli(), key, value);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }
}
