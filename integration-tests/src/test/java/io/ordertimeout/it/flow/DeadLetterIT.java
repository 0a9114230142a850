package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import io.ordertimeout.it.traffic.Deadlines;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Records that cannot be decoded, among good ones. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DeadLetterIT {

  private static final String TRACE = "trace";
  private static final String ERROR = "x-error";
  private static final int PARTITION = 0;

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();
  private final TopicNames topics = scenario.topics();
  private final Database database = scenario.database();

  /**
   * A record that cannot be decoded.
   *
   * @param error a part of the expected reason
   */
  // Nobody compares two of them.
  @SuppressWarnings("ArrayRecordComponent")
  private record Bad(String name, byte @Nullable [] key, byte @Nullable [] value, String error) {

    static Bad json(String name, String value, String error) {
      return new Bad(name, Shop.utf8("key"), Shop.utf8(value), error);
    }
  }

  @Test
  void unusableCreationsAreDeadLetteredCompletelyAndGoodOrdersAreProcessed() {
    List<Bad> bad = new ArrayList<>(unusableEverywhere());
    bad.addAll(
        List.of(
            new Bad("no key", null, Shop.utf8("{\"orderId\":\"no key\"}"), "key is missing"),
            new Bad("empty key", new byte[0], Shop.utf8("{\"orderId\":\"a\"}"), "key is not"),
            new Bad(
                "other key", Shop.utf8("b"), Shop.utf8("{\"orderId\":\"a\"}"), "not the order id"),
            created("createdAt of another type", "\"createdAt\":17", "createdAt is not a string"),
            created("createdAt without offset", "\"createdAt\":\"2026-01-01T00:00:00\"", "offset"),
            created(
                "createdAt far in the future",
                "\"createdAt\":\"+999999999-12-31T23:59:59Z\"",
                "createdAt"),
            created(
                "createdAt far in the past",
                "\"createdAt\":\"-999999999-01-01T00:00:00Z\"",
                "createdAt"),
            created("payBy far away", "\"payBy\":\"+999999999-12-31T23:59:59Z\"", "payBy"),
            created(
                "payBy before createdAt",
                "\"createdAt\":\"2026-01-01T00:00:00Z\",\"payBy\":\"2025-12-31T00:00:00Z\"",
                "not after the creation"),
            created("no duration", "\"timeout\":\"15 minutes\"", "not an ISO-8601 duration"),
            created("duration of another type", "\"timeout\":900", "timeout is not a string"),
            created("negative duration", "\"timeout\":\"-PT1S\"", "not after the creation"),
            created("no time at all", "\"timeout\":\"PT0S\"", "not after the creation"),
            created("absurd duration", "\"timeout\":\"P400000D\"", "TIMEOUT"),
            created("overflowing duration", "\"timeout\":\"P99999999999999999999D\"", "duration"),
            created("two ids", "\"orderId\":\"another\"", "orderId appears more than once")));
    sendBetweenGoodOrders(topics.created(), bad);

    for (int i = 0; i <= bad.size(); i++) {
      assertThat(database.state(topics.created() + i)).isEqualTo("PENDING");
    }
    assertDeadLettered(topics.created(), bad);
  }

  @Test
  void unusablePaymentsAreDeadLetteredCompletelyAndGoodOnesAreProcessed() {
    List<Bad> bad = unusableEverywhere();
    sendBetweenGoodOrders(topics.paid(), bad);

    for (int i = 0; i <= bad.size(); i++) {
      assertThat(database.state(topics.paid() + i)).isEqualTo("PAID");
    }
    assertDeadLettered(topics.paid(), bad);
  }

  @Test
  void unusableClosingsAreDeadLetteredCompletelyAndGoodOnesAreProcessed() {
    List<Bad> bad = unusableEverywhere();
    sendBetweenGoodOrders(topics.closed(), bad);

    for (int i = 0; i <= bad.size(); i++) {
      assertThat(database.state(topics.closed() + i)).isEqualTo("CLOSED");
    }
    assertDeadLettered(topics.closed(), bad);
  }

  /** A retention job deletes old orders from compacted topics in this way, many at a time. */
  @Test
  void tombstonesAreIgnoredAndStopNothing() {
    double before = service.counter("order.timeout.ignored.records");
    List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
    for (int i = 0; i < 150; i++) {
      for (String topic : List.of(topics.created(), topics.paid(), topics.closed())) {
        byte[] key = Shop.utf8("deleted-" + i);
        sent.add(scenario.shop().send(new ProducerRecord<>(topic, PARTITION, key, null)));
      }
    }
    sent.forEach(Shop::await);
    for (int i = 0; i < 30; i++) {
      scenario.shop().created("after-tombstones-" + i, Map.of("timeout", "PT1H"));
    }
    scenario.awaitQuiet();

    for (int i = 0; i < 30; i++) {
      assertThat(database.state("after-tombstones-" + i)).isEqualTo("PENDING");
    }
    assertThat(service.counter("order.timeout.ignored.records")).isEqualTo(before + sent.size());
    assertThat(scenario.outcomes().deadLetters())
        .noneMatch(letter -> letter.record().value() == null);
  }

  @Test
  void anOrderWithUnusableFieldsForDisplayIsWatchedWithoutThem() {
    double before = service.counter("order.timeout.replaced.fields");
    Map<String, Map<String, ?>> orders =
        Map.of(
            "comma", Map.of("amount", Map.of("value", "12,50", "currency", "EUR")),
            "sign", Map.of("amount", Map.of("value", "12.50", "currency", "€")),
            "no-currency", Map.of("amount", Map.of("value", "12.50")),
            "no-object", Map.of("amount", 12.5),
            "no-method", Map.of("paymentMethod", "", "channel", 7));
    orders.forEach((orderId, fields) -> scenario.shop().created(orderId, fields));
    scenario.awaitQuiet();

    orders
        .keySet()
        .forEach(
            orderId -> {
              assertThat(database.state(orderId)).isEqualTo("PENDING");
              assertThat(database.column(orderId, "amount")).isNull();
              assertThat(database.column(orderId, "payment_method")).isNull();
            });
    assertThat(service.counter("order.timeout.replaced.fields")).isEqualTo(before + 6);
  }

  @Test
  void aPaymentThatNamesTwoOrdersParksBoth() {
    scenario.createPending("one-of-two", PARTITION);
    scenario.createPending("two-of-two", PARTITION + 1);
    String payment = "{\"orderId\":\"one-of-two\",\"orderId\":\"two-of-two\"}";
    send(
        topics.paid(),
        new Bad("two", Shop.utf8("one-of-two"), Shop.utf8(payment), "more than once"));
    scenario.awaitQuiet();

    Deadlines.passNow(database, "one-of-two");
    Deadlines.passNow(database, "two-of-two");
    scenario.passDeadline("due-besides-0", PARTITION);
    scenario.passDeadline("due-besides-1", PARTITION + 1);
    assertThat(database.state("one-of-two")).isEqualTo("PENDING");
    assertThat(database.state("two-of-two")).isEqualTo("PENDING");
  }

  @Test
  void aPaymentWithUnusableDetailsIsAppliedAndNotDeadLettered() {
    double before = service.counter("order.timeout.replaced.fields");
    Map<String, Map<String, ?>> payments =
        Map.of(
            "odd-payment-id", Map.of("paymentId", 17, "paidAt", "2026-01-01T00:00:00Z"),
            "long-payment-id", Map.of("paymentId", "p".repeat(257)),
            "odd-paid-at", Map.of("paymentId", "p", "paidAt", "yesterday"),
            "absurd-paid-at", Map.of("paymentId", "p", "paidAt", "+999999999-12-31T23:59:59Z"));
    payments.forEach(
        (orderId, payment) -> {
          scenario.shop().created(orderId, Map.of());
          scenario.shop().paid(orderId, payment);
        });
    scenario.awaitQuiet();

    payments
        .keySet()
        .forEach(
            orderId -> {
              assertThat(database.state(orderId)).isEqualTo("PAID");
              assertThat(database.column(orderId, "payment_id")).isNotEmpty();
              assertThat(database.column(orderId, "paid_at")).isNotEmpty();
            });
    assertThat(scenario.outcomes().deadLetters())
        .extracting(letter -> new String(value(letter), StandardCharsets.UTF_8))
        .noneMatch(value -> payments.keySet().stream().anyMatch(value::contains));
    assertThat(service.counter("order.timeout.replaced.fields")).isEqualTo(before + 4);
  }

  @Test
  void aPaymentWithoutOrWithAnotherKeyIsAppliedAndDeadLettered() {
    Map<String, byte @Nullable []> keys = new HashMap<>();
    keys.put("without-key", null);
    keys.put("other-key", Shop.utf8("another order"));
    keys.forEach(
        (orderId, key) -> {
          scenario.shop().created(orderId, Map.of());
          send(
              topics.paid(),
              new Bad(orderId, key, Shop.json(Map.of("orderId", orderId, "paymentId", "p")), ""));
        });
    scenario.awaitQuiet();

    for (String orderId : keys.keySet()) {
      assertThat(database.state(orderId)).isEqualTo("PAID");
      assertThat(traced(topics.paid(), topics.paid() + orderId))
          .singleElement()
          .satisfies(
              letter ->
                  assertThat(letter.header(ERROR))
                      .contains("key")
                      .endsWith("it was applied nevertheless"));
    }
    assertThat(
            database.count(
                "select count(*) from order_deadline o join intake_position p"
                    + " on p.xmin::text = o.xmin::text"
                    + " where o.order_id in ('without-key', 'other-key')"))
        .as("positions that were advanced by the transaction that stored a payment")
        .isPositive();
  }

  private static List<Bad> unusableEverywhere() {
    byte[] nearlyTooLarge = "x".repeat(1024 * 1024 - 512).getBytes(StandardCharsets.UTF_8);
    return List.of(
        new Bad("empty", Shop.utf8("key"), new byte[0], "empty"),
        new Bad("binary", new byte[] {-1, 0, 1}, new byte[] {0, -1, -2, 127, -128}, "not JSON"),
        new Bad("nearly too large", Shop.utf8("key"), nearlyTooLarge, "not JSON"),
        Bad.json("text", "hello", "not JSON"),
        Bad.json("cut off", "{\"orderId\":\"a\"", "not JSON"),
        Bad.json("trailing", "{\"orderId\":\"a\"} {}", "not JSON"),
        Bad.json("deep", "[".repeat(5_000), "not JSON"),
        Bad.json("array", "[{\"orderId\":\"a\"}]", "not an object"),
        Bad.json("null", "null", "not an object"),
        Bad.json("no order id", "{\"paymentId\":\"p\"}", "orderId is missing"),
        Bad.json("order id null", "{\"orderId\":null}", "orderId is missing"),
        Bad.json("order id of another type", "{\"orderId\":17}", "orderId is not a string"),
        Bad.json("order id empty", "{\"orderId\":\"\"}", "orderId has 0 characters"),
        Bad.json(
            "order id too long",
            "{\"orderId\":\"" + "a".repeat(129) + "\"}",
            "orderId has 129 characters"),
        Bad.json("order id with NUL", "{\"orderId\":\"a\\u0000b\"}", "NUL"),
        Bad.json("order id with half a pair", "{\"orderId\":\"a\\ud800\"}", "surrogate"));
  }

  private static Bad created(String name, String fields, String error) {
    return new Bad(
        name, Shop.utf8(name), Shop.utf8("{\"orderId\":\"" + name + "\"," + fields + "}"), error);
  }

  /** The order ids of the good ones consist of the topic's name and a number. */
  private void sendBetweenGoodOrders(String topic, List<Bad> bad) {
    for (int i = 0; i <= bad.size(); i++) {
      byte[] orderId = Shop.utf8(topic + i);
      byte[] event = Shop.json(Map.of("orderId", topic + i));
      Shop.await(scenario.shop().send(new ProducerRecord<>(topic, PARTITION, orderId, event)));
      if (i < bad.size()) {
        send(topic, bad.get(i));
      }
    }
    scenario.awaitQuiet();
  }

  private RecordMetadata send(String topic, Bad bad) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, PARTITION, bad.key(), bad.value());
    record.headers().add(TRACE, Shop.utf8(topic + bad.name())).add("blob", new byte[] {0, -1});
    return Shop.await(scenario.shop().send(record));
  }

  private void assertDeadLettered(String topic, List<Bad> bad) {
    Map<String, Long> letters =
        scenario.outcomes().deadLetters(topic).stream()
            .map(letter -> String.valueOf(letter.header(TRACE)))
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    for (Bad one : bad) {
      String trace = topic + one.name();
      assertThat(letters).containsEntry(trace, 1L);
      PublishedEvent letter = traced(topic, trace).get(0);
      assertThat(letter.record().key()).as(trace).isEqualTo(one.key());
      assertThat(letter.record().value()).as(trace).isEqualTo(one.value());
      assertThat(letter.header(ERROR)).as(trace).contains(one.error());
      assertThat(letter.header("x-topic")).isEqualTo(topic);
      assertThat(letter.header("x-partition")).isEqualTo(String.valueOf(PARTITION));
      assertThat(letter.header("x-offset")).matches("[0-9]+");
      assertThat(letter.record().headers().lastHeader("blob").value())
          .isEqualTo(new byte[] {0, -1});
    }
  }

  private List<PublishedEvent> traced(String topic, String trace) {
    return scenario.outcomes().deadLetters(topic).stream()
        .filter(letter -> trace.equals(letter.header(TRACE)))
        .toList();
  }

  private static byte[] value(PublishedEvent letter) {
    byte[] value = letter.record().value();
    return value == null ? new byte[0] : value;
  }
}
