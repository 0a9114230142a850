package io.ordertimeout.it.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ObservedRecordsTest {

  private static final TopicNames TOPICS = TopicNames.of("t");
  private static final String[] NO_HEADERS = {};
  private static final Instant APPENDED = Instant.parse("2026-01-01T00:00:01Z");

  private final ObservedRecords records = new ObservedRecords(TOPICS);
  private long offset;

  @Test
  void derivesTheDeadlineFromTheFieldsOfTheOrder() {
    add(TOPICS.created(), "a", "\"createdAt\":\"2026-01-01T00:00:00Z\",\"timeout\":\"PT5S\"");
    add(TOPICS.created(), "b", "\"payBy\":\"2026-01-01T00:00:07Z\"");
    add(TOPICS.created(), "c", "\"timeout\":\"PT9S\"");
    assertThat(histories(Map.of()))
        .flatExtracting(OrderHistory::creations)
        .extracting(creation -> creation.createdAt() + " " + creation.deadline())
        .containsExactlyInAnyOrder(
            "2026-01-01T00:00:00Z 2026-01-01T00:00:05Z",
            APPENDED + " 2026-01-01T00:00:07Z",
            APPENDED + " 2026-01-01T00:00:10Z");
  }

  @Test
  void judgesAnOrderThatOnlyTheTableContains() {
    OrderRow row = new OrderRow("PENDING", APPENDED, APPENDED, null, null);
    List<OrderHistory> histories = histories(Map.of("ghost", row));
    assertThat(histories).extracting(OrderHistory::orderId).containsExactly("ghost");
    assertThat(histories)
        .flatExtracting(order -> Judge.judge(order, APPENDED, Judge.NOTHING_STALE))
        .isNotEmpty();
  }

  @Test
  void reportsAKeyOrHeaderThatContradictsTheEvent() {
    add(TOPICS.cancelled(), "a", "\"eventId\":\"e1\"", "ce_id", "e2");
    add(
        TOPICS.cancelled(),
        "a",
        "\"eventId\":\"e1\"",
        "ce_id",
        "e1",
        "ce_type",
        "io.ordertimeout.order-cancelled");
    assertThat(histories(Map.of()))
        .flatExtracting(OrderHistory::cancellations)
        .extracting(HistoryEvent.Cancellation::fault)
        .containsExactly("ce_id differs from the event id: e2", null);
    assertThat(records.cancellations()).isEqualTo(2);
  }

  @Test
  void reportsTheKeyOfAnotherOrder() {
    records.add(record(TOPICS.cancelled(), "b", "{\"orderId\":\"a\"}"), APPENDED);
    records.add(record(TOPICS.conflict(), null, "{\"orderId\":\"a\"}"), APPENDED);
    OrderHistory order = histories(Map.of()).get(0);
    assertThat(order.cancellations().get(0).fault()).contains("key differs");
    assertThat(order.conflicts().get(0).fault()).contains("key differs");
  }

  @Test
  void acceptsGarbageThatWasDeadLetteredUnchanged() {
    garbage("nonsense");
    letter(0, "nonsense", DeadLetterJudge.GARBAGE_HEADER, "yes");
    letter(0, "nonsense", DeadLetterJudge.GARBAGE_HEADER, "yes");
    assertThat(records.deadLetters().judge()).isEmpty();
    assertThat(records.deadLetters())
        .hasToString(
            "1 unusable records, 0 of them with usable records behind them;"
                + " 1 repeated dead letters");
  }

  @Test
  void countsGarbageWithUsableRecordsBehindIt() {
    garbage("first");
    add(TOPICS.created(), "a", "\"timeout\":\"PT9S\"");
    garbage("second");
    add(TOPICS.paid(), "a", "\"paymentId\":\"p1\"");
    assertThat(records.deadLetters().toString())
        .startsWith("2 unusable records, 1 of them with usable records behind them; 0 repeated");
  }

  @Test
  void garbageAmongPaymentsAndClosingsPutsTheOrderOfItsKeyInDoubt() {
    garbage(TOPICS.created(), "a", "none");
    garbage(TOPICS.paid(), "a", "none");
    garbage(TOPICS.closed(), "a", "none");
    garbage(TOPICS.paid(), null, "none");
    List<OrderHistory> histories = histories(Map.of());
    assertThat(histories).extracting(OrderHistory::orderId).containsExactly("a");
    assertThat(histories.get(0).doubts())
        .extracting(doubt -> doubt.position().topic())
        .containsExactly(TOPICS.paid(), TOPICS.closed());
    assertThat(histories.get(0).toString()).contains("t-paid-0@1", "t-closed-0@2");
  }

  @Test
  void judgesAnOrderThatIsOnlyParked() {
    List<OrderHistory> histories =
        records.histories(new Acknowledgements(), Map.of(), Set.of("ghost"));
    assertThat(histories).extracting(OrderHistory::parked).containsExactly(true);
    assertThat(histories.get(0).toString()).endsWith("no row in order_deadline, parked");
  }

  @Test
  void aRecordIsVisibleOnceItIsAcknowledgedOrRead() {
    Instant readAt = Instant.now().plusSeconds(60);
    Acknowledgements acknowledgements = new Acknowledgements();
    String[] topics = {TOPICS.paid(), TOPICS.closed(), TOPICS.paid()};
    for (int i = 0; i < topics.length; i++) {
      String garbage = i == 2 ? "none" : "{\"orderId\":\"a\",\"paymentId\":\"p\"}";
      String[] headers = i == 2 ? new String[] {DeadLetterJudge.GARBAGE_HEADER, "yes"} : NO_HEADERS;
      records.add(record(topics[i], "a", garbage, headers), readAt);
      assertThat(visibleBy(acknowledgements)).hasSize(i + 1).containsOnly(readAt);
    }
    for (int i = 0; i < topics.length; i++) {
      acknowledgements.add(new RecordMetadata(new TopicPartition(topics[i], 0), i, 0, 0, 1, 1));
    }
    assertThat(visibleBy(acknowledgements)).allMatch(visible -> visible.isBefore(readAt));
    records.add(record(TOPICS.closed(), "b", "{\"orderId\":\"b\"}"), APPENDED);
    acknowledgements.add(new RecordMetadata(new TopicPartition(TOPICS.closed(), 0), 3, 0, 0, 1, 1));
    assertThat(visibleBy(acknowledgements)).contains(APPENDED);
  }

  private List<Instant> visibleBy(Acknowledgements acknowledgements) {
    return records.histories(acknowledgements, Map.of(), Set.of()).stream()
        .flatMap(OrderHistory::settlings)
        .map(HistoryEvent.Settling::visibleBy)
        .toList();
  }

  @Test
  void knowsWhichDecisionsWerePublished() {
    add(TOPICS.cancelled(), "a", "\"cancelledAt\":\"2026-01-01T00:00:00.5Z\"");
    add(TOPICS.conflict(), "b", "\"paymentId\":\"p1\"");
    add(TOPICS.conflict(), "c", "\"paymentId\":\"p1\",\"cancelledAt\":\"2026-01-01T00:00:00.5Z\"");
    Instant cancelledAt = Instant.parse("2026-01-01T00:00:00.5Z");
    assertThat(records.isPublished("a", cancelledAt)).isTrue();
    assertThat(records.isPublished("a", APPENDED)).isFalse();
    assertThat(records.isPublished("x", cancelledAt)).isFalse();
    assertThat(records.isPublishedAsClosed("b", APPENDED)).isTrue();
    assertThat(records.isPublishedAsClosed("b", cancelledAt)).isFalse();
    assertThat(records.isPublishedAsClosed("c", APPENDED)).isFalse();
    assertThat(records.isPublishedAsClosed("x", APPENDED)).isFalse();
  }

  @Test
  void knowsTheDeadlinesOfCancelledOrders() {
    String fields = "\"deadline\":\"2026-01-01T00:00:00.5Z\"";
    add(TOPICS.cancelled(), "a", fields);
    add(TOPICS.cancelled(), "a", fields);
    assertThat(records.cancelledDeadlines())
        .containsExactly(Instant.parse("2026-01-01T00:00:00.5Z"));
  }

  @Test
  void knowsTheInputRecords() {
    add(TOPICS.created(), "a", "\"timeout\":\"PT9S\"");
    garbage("nonsense");
    add(TOPICS.cancelled(), "a", "\"eventId\":\"e1\"");
    assertThat(records.contains(new RecordPosition(TOPICS.created(), 0, 0))).isTrue();
    assertThat(records.contains(new RecordPosition(TOPICS.created(), 0, 1))).isTrue();
    assertThat(records.contains(new RecordPosition(TOPICS.cancelled(), 0, 2))).isFalse();
  }

  @Test
  void acceptsAnOrderThatArrivedAfterItsDeadline() {
    add(TOPICS.created(), "a", "\"payBy\":\"2026-01-01T00:00:00.5Z\"");
    assertThat(records.deadLetters().judge()).isEmpty();
    assertThat(histories(Map.of()))
        .flatExtracting(OrderHistory::creations)
        .extracting(creation -> creation.deadline().toString())
        .containsExactly("2026-01-01T00:00:00.500Z");
  }

  @Test
  void reportsGarbageThatWasNotDeadLettered() {
    garbage("nonsense");
    assertThat(records.deadLetters().judge())
        .extracting(Violation::kind)
        .containsExactly(Kind.DEAD_LETTER_MISSING);
  }

  @Test
  void reportsGarbageThatWasChanged() {
    garbage("nonsense");
    letter(0, "sense", DeadLetterJudge.GARBAGE_HEADER, "yes");
    assertWrongFields();
  }

  @Test
  void reportsOneChangedRepetition() {
    garbage("nonsense");
    letter(0, "sense", DeadLetterJudge.GARBAGE_HEADER, "yes");
    letter(0, "nonsense", DeadLetterJudge.GARBAGE_HEADER, "yes");
    assertWrongFields();
  }

  @Test
  void reportsALostHeader() {
    garbage("nonsense");
    letter(0, "nonsense");
    assertWrongFields();
  }

  @Test
  void reportsAnInventedHeader() {
    garbage("nonsense");
    letter(0, "nonsense", DeadLetterJudge.GARBAGE_HEADER, "yes", "more", "yes");
    assertWrongFields();
  }

  @Test
  void reportsAnotherKey() {
    garbage(TOPICS.created(), "h", "nonsense");
    letter(0, "nonsense", DeadLetterJudge.GARBAGE_HEADER, "yes");
    assertWrongFields();
  }

  @Test
  void reportsTheDeadLetterTopicOfAnotherTopic() {
    garbage("nonsense");
    letter(
        TOPICS.paid(),
        "because",
        TOPICS.created(),
        "0",
        "0",
        "nonsense",
        DeadLetterJudge.GARBAGE_HEADER,
        "yes");
    assertWrongFields();
  }

  @Test
  void reportsADeadLetterWithoutItsOriginOrReason() {
    letter(TOPICS.created(), " ", TOPICS.created(), "0", "0", "nonsense");
    letter(TOPICS.created(), "because", "", "0", "0", "nonsense");
    letter(TOPICS.created(), "because", TOPICS.created(), "zero", "0", "nonsense");
    letter(TOPICS.created(), "because", TOPICS.created(), "0", "zero", "nonsense");
    records.add(record(TopicNames.deadLetters(TOPICS.created()), "g", "nonsense"), APPENDED);
    for (int i = 0; i < 2; i++) {
      assertThat(records.deadLetters().judge())
          .hasSize(5)
          .extracting(Violation::kind)
          .containsOnly(Kind.WRONG_FIELDS);
    }
    assertThat(records.deadLetters().judge())
        .first()
        .hasToString(
            "WRONG_FIELDS: dead letter: without a header x-error\n"
                + "  t-created.dlt-0@0   nonsense");
  }

  private void assertWrongFields() {
    assertThat(records.deadLetters().judge())
        .extracting(Violation::kind)
        .containsExactly(Kind.WRONG_FIELDS);
  }

  @Test
  void reportsAUsableEventThatWasDeadLettered() {
    add(TOPICS.created(), "a", "\"timeout\":\"PT9S\"");
    letter(0, "{}");
    assertThat(records.deadLetters().judge())
        .extracting(Violation::kind)
        .containsExactly(Kind.UNEXPECTED_DEAD_LETTER);
  }

  private List<OrderHistory> histories(Map<String, OrderRow> rows) {
    return records.histories(new Acknowledgements(), rows, Set.of());
  }

  private void garbage(String value) {
    garbage(TOPICS.created(), "g", value);
  }

  private void garbage(String topic, @Nullable String key, String value) {
    records.add(record(topic, key, value, DeadLetterJudge.GARBAGE_HEADER, "yes"), APPENDED);
  }

  private void letter(long origin, String value, String... headers) {
    letter(
        TOPICS.created(), "because", TOPICS.created(), "0", String.valueOf(origin), value, headers);
  }

  private void letter(
      String ofTopic,
      String error,
      String topic,
      String partition,
      String offsetInTopic,
      String value,
      String... headers) {
    ConsumerRecord<byte @Nullable [], byte @Nullable []> letter =
        record(TopicNames.deadLetters(ofTopic), "g", value, headers);
    letter
        .headers()
        .add("x-topic", Shop.utf8(topic))
        .add("x-partition", Shop.utf8(partition))
        .add("x-offset", Shop.utf8(offsetInTopic))
        .add("x-error", Shop.utf8(error));
    records.add(letter, APPENDED);
  }

  private void add(String topic, String orderId, String fields, String... headers) {
    records.add(
        record(topic, orderId, "{\"orderId\":\"" + orderId + "\"," + fields + "}", headers),
        APPENDED);
  }

  private ConsumerRecord<byte @Nullable [], byte @Nullable []> record(
      String topic, @Nullable String key, String value, String... headers) {
    RecordHeaders all = new RecordHeaders();
    for (int i = 0; i < headers.length; i += 2) {
      all.add(headers[i], Shop.utf8(headers[i + 1]));
    }
    return new ConsumerRecord<>(
        topic,
        0,
        offset++,
        APPENDED.toEpochMilli(),
        TimestampType.LOG_APPEND_TIME,
        key == null ? 0 : key.length(),
        value.length(),
        key == null ? null : Shop.utf8(key),
        Shop.utf8(value),
        all,
        Optional.empty());
  }
}
