package io.ordertimeout.orders.intake.decoding;

import static io.ordertimeout.orders.intake.decoding.HostileRecords.CLOSED;
import static io.ordertimeout.orders.intake.decoding.HostileRecords.CREATED;
import static io.ordertimeout.orders.intake.decoding.HostileRecords.PAID;
import static io.ordertimeout.orders.intake.decoding.HostileRecords.RECORDED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.contract.EventSchema;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.statistics.Statistics;
import net.jqwik.api.statistics.StatisticsReport;
import net.jqwik.api.statistics.StatisticsReport.StatisticsReportMode;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import tools.jackson.databind.json.JsonMapper;

/** Whatever the published schemas of incoming events allow is accepted as it is. */
class IncomingContractTest {

  private static final String ID = "o";

  /** Values of all kinds, allowed for some fields and not for others. */
  private static final List<String> VALUES =
      List.of(
          "\"o\"",
          "\"\"",
          "\"" + "x".repeat(128) + "\"",
          "\"" + "\uD83D\uDED2".repeat(128) + "\"",
          "\"" + "x".repeat(256) + "\"",
          "\"" + "x".repeat(257) + "\"",
          "\"" + "x".repeat(1024) + "\"",
          "\"" + "x".repeat(1025) + "\"",
          "\"a\\u0000b\"",
          "17",
          "-1.5",
          "true",
          "[]",
          "[".repeat(50) + "]".repeat(50),
          "9".repeat(101),
          "1e-99999999",
          "{}",
          "{\"" + "x".repeat(1_001) + "\":1}",
          "\"2026-05-01T12:00:30Z\"",
          "\"2026-05-01T14:00:30.123456789+02:00\"",
          "\"2026-05-01T12:00:60Z\"",
          "\"2026-05-01T12:00:30.0123456789012Z\"",
          "\"2026-05-01T12:00:30-23:00\"",
          "\"2026-05-01t12:00:30z\"",
          "\"2026-05-01T12:00:30+0000\"",
          "\"2026-05-01T12:00:30\"",
          "\"2026-05-01\"",
          "\"yesterday\"",
          "\"PT30S\"",
          "\"P1DT2H3M4.5S\"",
          "\"PT0S\"",
          "\"-PT5M\"",
          "\"P\"",
          "\"P1M\"",
          "\"P1W\"",
          "\"PT0.5H\"",
          "\"P0Y0M0DT0H30M0S\"",
          "\"PT\"",
          "\"30 minutes\"",
          "{\"value\":\"12.50\",\"currency\":\"EUR\"}",
          "{\"value\":1200,\"currency\":\"JPY\",\"more\":[]}",
          "{\"value\":\"12,50\",\"currency\":\"EUR\"}",
          "{\"value\":\"1e5\",\"currency\":\"EUR\"}",
          "{\"value\":\"12.50\",\"currency\":\"€\"}",
          "{\"value\":1e10,\"currency\":\"EUR\"}",
          "{\"value\":1e300,\"currency\":\"EUR\"}",
          "{\"value\":0.12345678901,\"currency\":\"EUR\"}",
          "{\"value\":\"12.50\"}",
          "{\"currency\":\"EUR\"}",
          "{\"value\":\"0.12345678901\",\"currency\":\"EUR\"}");

  private final OrderTimeoutProperties properties =
      new Binder(new MapConfigurationPropertySource(Map.of()))
          .bindOrCreate("order-timeout", OrderTimeoutProperties.class);
  private final EventDecoder decoder =
      new EventDecoder(properties, new PaymentDeadlines(properties), Decoders.of(properties));
  private final Map<String, EventSchema> schemas =
      Map.of(
          CREATED, EventSchema.of(CREATED),
          PAID, EventSchema.of(PAID),
          CLOSED, EventSchema.of(CLOSED));

  @Example
  void theExamplesAreAccepted() {
    schemas.forEach(
        (topic, schema) ->
            schema.examples().forEach(example -> assertAccepted(topic, orderId(example), example)));
  }

  private static String orderId(String event) {
    return JsonMapper.shared().readTree(event).path("orderId").asString();
  }

  @Property(tries = 5_000)
  @StatisticsReport(StatisticsReportMode.OFF)
  void whatASchemaAllowsIsAccepted(
      @ForAll("topics") String topic, @ForAll("fields") Map<String, String> fields) {
    String event =
        fields.entrySet().stream()
            .map(field -> "\"" + field.getKey() + "\":" + field.getValue())
            .collect(Collectors.joining(",", "{\"orderId\":\"" + ID + "\"" + comma(fields), "}"));
    EventSchema schema = schemas.getOrDefault(topic, EventSchema.of(topic));
    boolean allowed = schema.faults(event).isEmpty();
    Statistics.label("allowed")
        .collect(allowed)
        .coverage(seen -> seen.check(true).count(n -> n > 100));
    if (allowed) {
      assertAccepted(topic, ID, event);
    }
  }

  private static String comma(Map<String, String> fields) {
    return fields.isEmpty() ? "" : ",";
  }

  private void assertAccepted(String topic, String key, String event) {
    Decoded decoded =
        new Decoded(
            decoder.decode(
                HostileRecords.record(
                    topic, RECORDED.toEpochMilli(), key.getBytes(UTF_8), event.getBytes(UTF_8)),
                RECORDED.plusSeconds(31_536_000)));
    assertThat(decoded.fault()).as(event).isNull();
    assertThat(decoded.replacedFields()).as(event).isZero();
    assertThat(topic.equals(CREATED) ? decoded.created() : decoded.settled()).isNotNull();
  }

  @Provide
  Arbitrary<String> topics() {
    return Arbitraries.of(CREATED, PAID, CLOSED);
  }

  @Provide
  Arbitrary<Map<String, String>> fields() {
    return Arbitraries.maps(
            Arbitraries.oneOf(Arbitraries.of(HostileRecords.FIELDS), Arbitraries.just("unknown")),
            Arbitraries.of(VALUES))
        .ofMaxSize(4)
        .filter(fields -> !fields.containsKey("orderId"))
        .filter(fields -> !(fields.containsKey("createdAt") && fields.containsKey("payBy")));
  }
}
