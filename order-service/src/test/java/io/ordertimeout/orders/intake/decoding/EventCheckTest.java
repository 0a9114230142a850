package io.ordertimeout.orders.intake.decoding;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.intake.decoding.EventCheck.Outcome;
import io.ordertimeout.orders.intake.decoding.EventCheck.Result;
import io.ordertimeout.orders.platform.avro.AvroDecoder;
import io.ordertimeout.orders.platform.avro.AvroValues;
import io.ordertimeout.orders.platform.avro.RegistryServer;
import io.ordertimeout.orders.platform.avro.SchemaRegistryUnavailableException;
import java.time.Instant;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class EventCheckTest {

  private static final Instant NOW = Instant.parse("2026-05-01T12:00:00Z");

  private final OrderTimeoutProperties properties =
      properties("order-timeout.intake.formats.closed", "debezium");
  private final EventCheck check = check(properties, AvroValues.decoder(properties));

  @Test
  void tellsWhatACreatedOrderWouldBe() {
    assertThat(check("order-created", "o", "{\"orderId\":\"o\",\"timeout\":\"PT1M\"}"))
        .isEqualTo(
            new Outcome(Result.CREATED, "o", NOW.plusSeconds(60), "TIMEOUT", null, NOW, 0, null));
  }

  @Test
  void tellsWhatAPaymentAndAClosingWouldBe() {
    assertThat(check("order-paid", "x", "{\"orderId\":\"o\",\"paymentId\":\"p\",\"paidAt\":7}"))
        .isEqualTo(
            new Outcome(
                Result.PAID,
                "o",
                null,
                null,
                "p",
                NOW,
                1,
                "the key is not the order id; it was applied nevertheless"));
    assertThat(check("order-closed", "o", "{\"op\":\"c\",\"after\":{\"orderId\":\"o\"}}"))
        .isEqualTo(new Outcome(Result.CLOSED, "o", null, null, null, NOW, 0, null));
  }

  @Test
  void tellsWhatIsIgnoredOrADeadLetterAndWhy() {
    assertThat(check("order-closed", "o", null).result()).isEqualTo(Result.IGNORED);
    Outcome letter = check("order-paid", "o", "garbage");
    assertThat(letter.result()).isEqualTo(Result.DEAD_LETTER);
    assertThat(letter.orderId()).isEqualTo("o");
    assertThat(letter.fault()).contains("not JSON", "parked");
  }

  @Test
  void aTruncatedValueIsDescribedWithoutWhatTheParserSaysOfItself() {
    assertThat(check("order-paid", "o", "{\"orderId\":\"o\"").fault())
        .contains("not JSON: Unexpected end-of-input")
        .doesNotContain("Source", "REDACTED");
  }

  @Test
  void refusesOtherTopicsByName() {
    assertThatThrownBy(() -> check("orders", "o", "{}"))
        .hasMessage(
            "'orders' is not an input topic; the input topics are [order-closed, order-created,"
                + " order-paid]");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'ts':'1714564800000'",
        "'ts':1714564800.5",
        "'ts':true",
        "'ts':-1",
        "'ts':99999999999999999999",
        "'ts':1,'ts':2",
        "'partition':'1'",
        "'partition':1.0",
        "'partition':2147483648",
        "'headers':'a'",
        "'headers':{'a':'b'}",
        "'headers':['a']",
        "'headers':['a',7]",
        "'headers':[7,'a']"
      })
  void refusesALineWithAValueOfAnotherKind(String field) {
    String name = field.substring(1, field.indexOf("':"));
    assertThatThrownBy(() -> check.check(Stream.of(line(field)), NOW).toList())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("line 1: its " + name);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'ts':1777636800000",
        "'ts':null",
        "'partition':3",
        "'headers':[]",
        "'headers':null",
        "'headers':['a','b','c',null]"
      })
  void readsALineAsKcatPrintsIt(String field) {
    assertThat(check.check(Stream.of(line(field)), NOW).toList())
        .singleElement()
        .extracting(record -> record.outcome().result())
        .isEqualTo(Result.CREATED);
  }

  private static String line(String field) {
    return ("{'topic':'order-created','key':'o','payload':{'orderId':'o'}," + field + "}")
        .replace('\'', '"');
  }

  @Test
  void waitsForASlowSchemaRegistry() {
    try (RegistryServer registry = new RegistryServer()) {
      Schema schema = Schema.create(Schema.Type.STRING);
      registry.has(7, schema);
      OrderTimeoutProperties avro =
          properties(
              "order-timeout.intake.encodings.paid",
              "avro",
              "order-timeout.schema-registry.url",
              registry.url());
      EventCheck patient = check(avro, AvroValues.impatientDecoder(avro));
      byte[] value = RegistryServer.framed(7, schema, "o");

      assertThat(patient.check(record("order-paid", "o", value), NOW).fault())
          .startsWith("the value is not an object but STRING");
      registry.stop();
      byte[] other = RegistryServer.framed(8, schema, "o");
      assertThatThrownBy(() -> patient.check(record("order-paid", "o", other), NOW))
          .isInstanceOf(SchemaRegistryUnavailableException.class)
          .hasMessageContaining("cannot be reached");
    }
  }

  private Outcome check(String topic, String key, @Nullable String value) {
    return check.check(record(topic, key, value == null ? null : value.getBytes(UTF_8)), NOW);
  }

  private static ConsumerRecord<byte @Nullable [], byte @Nullable []> record(
      String topic, String key, byte @Nullable [] value) {
    return HostileRecords.record(topic, NOW.toEpochMilli(), key.getBytes(UTF_8), value);
  }

  private static EventCheck check(OrderTimeoutProperties properties, AvroDecoder avro) {
    return new EventCheck(
        new EventDecoder(
            properties, new PaymentDeadlines(properties), new ValueDecoders(avro, properties)),
        properties);
  }

  private static OrderTimeoutProperties properties(String... settings) {
    MapConfigurationPropertySource source = new MapConfigurationPropertySource();
    for (int i = 0; i < settings.length; i += 2) {
      source.put(settings[i], settings[i + 1]);
    }
    return new Binder(source).bindOrCreate("order-timeout", OrderTimeoutProperties.class);
  }
}
