package io.ordertimeout.orders.intake.decoding;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.intake.decoding.EventCheck.Outcome;
import io.ordertimeout.orders.intake.decoding.EventCheck.Result;
import io.ordertimeout.orders.order.OrderCreated;
import io.ordertimeout.orders.order.OrderSettled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** The tables of the documents say what becomes of a value: every row of them is a case. */
class DocumentedValuesTest {

  private static final Instant RECORDED = Instant.parse("2026-05-01T12:00:00Z");

  private static final String CHANGE =
      "{\"op\":\"c\",\"source\":{\"ts_ms\":" + RECORDED.toEpochMilli() + "},\"after\":{%s}}";

  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  /**
   * A value in a record.
   *
   * @param members the fields of the event
   * @param field the field that has the documented value
   * @param type JSON, row or the name that a schema has for the value
   * @param zone the zone of the topic, if it is known
   * @param documented what becomes of it
   */
  record Case(
      String members,
      String field,
      String type,
      @Nullable String zone,
      String topic,
      String documented) {

    List<String> names() {
      return codes(documented);
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aValueBecomesWhatTheDocumentsSay(Case value) {
    ConsumerRecord<byte @Nullable [], byte @Nullable []> record = record(value);
    OrderTimeoutProperties properties = properties(value);
    EventDecoder decoder =
        new EventDecoder(properties, new PaymentDeadlines(properties), Decoders.of(properties));
    DecodedRecord decoded = decoder.decode(record, RECORDED);
    Outcome checked = new EventCheck(decoder, properties).check(record, RECORDED);

    if (value.documented.startsWith("dead letter")) {
      assertThat(decoded)
          .isInstanceOfSatisfying(
              DecodedRecord.Undecodable.class,
              letter -> assertThat(letter.ordersInDoubt()).isEqualTo(Set.copyOf(value.names())));
      assertThat(checked.result()).isEqualTo(Result.DEAD_LETTER);
      return;
    }
    boolean isReplaced = Set.of("replaced", "left out").contains(value.documented);
    Set<String> replaced = isReplaced ? Set.of(value.field) : Set.of();
    if (decoded instanceof DecodedRecord.Created created) {
      assertThat(created.replacedFields()).isEqualTo(replaced);
      if (!value.names().isEmpty()) {
        assertThat(meaning(value.field, created.order())).isEqualTo(value.names().get(0));
      }
    } else {
      assertThat(decoded)
          .isInstanceOfSatisfying(
              DecodedRecord.Settled.class,
              settled -> {
                assertThat(settled.fault()).isNull();
                assertThat(settled.replacedFields()).isEqualTo(replaced);
                if (!value.names().isEmpty()) {
                  assertThat(((OrderSettled.Paid) settled.event()).paidAt())
                      .isEqualTo(Instant.parse(value.names().get(0)));
                }
              });
    }
    assertThat(isReplaced || value.documented.equals("accepted") || !value.names().isEmpty())
        .as("what the documents say is one of the words that they use: %s", value.documented)
        .isTrue();
    assertThat(checked.replacedFields()).isEqualTo(replaced.size());
    assertThat(checked.result()).isIn(Result.CREATED, Result.PAID);
  }

  private static String meaning(String field, OrderCreated order) {
    return field.equals("createdAt")
        ? order.createdAt().toString()
        : Duration.between(order.createdAt(), Objects.requireNonNull(order.terms().deadline()))
            .toString();
  }

  static Stream<Case> cases() throws IOException {
    String document = Files.readString(Path.of("docs", "events.md"));
    List<Case> cases = new ArrayList<>();
    List<String> header = List.of();
    String section =
        document.substring(document.indexOf("## What values mean"), document.indexOf("## Formats"));
    for (String line : section.lines().toList()) {
      if (!line.startsWith("|")) {
        header = List.of();
      } else if (header.isEmpty()) {
        header = cells(line);
      } else if (!line.startsWith("|-")) {
        addCases(header.get(0), cells(line), cases);
      }
    }
    // Fewer would mean that a table is not found.
    assertThat(cases).hasSizeGreaterThan(100);
    return cases.stream();
  }

  private static void addCases(String table, List<String> cells, List<Case> cases) {
    List<String> codes = codes(cells.get(0) + cells.get(1));
    String type = cells.get(1).startsWith("`") ? codes.get(1) : substringBefore(cells.get(1), ",");
    String zone = cells.get(1).contains("zone") ? codes.get(codes.size() - 1) : null;
    String value = codes.get(0);
    switch (table) {
      case "time" -> {
        cases.add(of("createdAt", value, type, zone, "order-created", cells.get(2)));
        cases.add(of("paidAt", value, type, zone, "order-paid", cells.get(3)));
      }
      case "time to pay" ->
          cases.add(of("timeout", value, type, zone, "order-created", cells.get(2)));
      case "field" ->
          cases.add(of(value, codes.get(1), "JSON", null, "order-created", cells.get(2)));
      case "fields of the record" -> {
        cases.add(new Case(value, "paymentId", type, zone, "order-created", cells.get(2)));
        cases.add(new Case(value, "paymentId", type, zone, "order-paid", cells.get(3)));
      }
      default -> throw new IllegalStateException("no such table: " + table);
    }
  }

  private static String substringBefore(String text, String end) {
    int index = text.indexOf(end);
    return index < 0 ? text : text.substring(0, index);
  }

  private static Case of(
      String field,
      String value,
      String type,
      @Nullable String zone,
      String topic,
      String documented) {
    String members = "\"orderId\": \"o\", \"" + field + "\": " + value;
    return new Case(members, field, type, zone, topic, documented);
  }

  private static List<String> cells(String line) {
    return Arrays.stream(line.substring(1).split("\\|")).map(String::strip).toList();
  }

  private static List<String> codes(String text) {
    Matcher matcher = CODE.matcher(text);
    List<String> codes = new ArrayList<>();
    while (matcher.find()) {
      codes.add(matcher.group(1));
    }
    return codes;
  }

  private static OrderTimeoutProperties properties(Case value) {
    Map<String, String> settings = new HashMap<>();
    for (String topic : new String[] {"created", "paid"}) {
      if (!value.type.equals("JSON")) {
        settings.put("order-timeout.intake.formats." + topic, "debezium");
      }
      if (value.zone != null) {
        settings.put("order-timeout.intake.zones." + topic, value.zone);
      }
    }
    return new Binder(new MapConfigurationPropertySource(settings))
        .bindOrCreate("order-timeout", OrderTimeoutProperties.class);
  }

  private static ConsumerRecord<byte @Nullable [], byte @Nullable []> record(Case value) {
    boolean isNumber = value.members.startsWith("\"orderId\": 4711");
    String key = isNumber && value.documented.equals("accepted") ? "4711" : "o";
    return new ConsumerRecord<>(
        value.topic,
        3,
        42,
        RECORDED.toEpochMilli(),
        TimestampType.CREATE_TIME,
        0,
        0,
        key.getBytes(UTF_8),
        json(value).getBytes(UTF_8),
        new RecordHeaders(),
        Optional.empty());
  }

  private static String json(Case value) {
    return switch (value.type) {
      case "JSON" -> "{" + value.members + "}";
      case "row" -> CHANGE.formatted(value.members);
      default ->
          """
          {"schema":{"type":"struct","fields":[{"field":"after","type":"struct","fields":[
            {"field":"orderId","type":"string"},{"field":"%s","type":"int64","name":"%s"}]}]},
           "payload":%s}
          """
              .formatted(value.field, value.type, CHANGE.formatted(value.members));
    };
  }
}
