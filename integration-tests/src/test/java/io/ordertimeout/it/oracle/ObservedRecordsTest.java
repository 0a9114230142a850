package io.ordertimeout.it.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ObservedRecordsTest {

  private static final TopicNames TOPICS = TopicNames.of("t");
  private static final Instant APPENDED = Instant.parse("2026-01-01T00:00:01Z");

  private final ObservedRecords records = new ObservedRecords(TOPICS);
  private long offset;

  @Test
  void derivesTheDeadlineFromTheFieldsOfTheOrder() {
    add(TOPICS.created(), "a", "\"createdAt\":\"2026-01-01T00:00:00Z\",\"timeout\":\"PT5S\"");
    add(TOPICS.created(), "b", "\"payBy\":\"2026-01-01T00:00:07Z\"");
    add(TOPICS.created(), "c", "\"timeout\":\"PT9S\"");
    assertThat(records.histories(new Acknowledgements(), Map.of()))
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
    List<OrderHistory> histories = records.histories(new Acknowledgements(), Map.of("ghost", row));
    assertThat(histories).extracting(OrderHistory::orderId).containsExactly("ghost");
    assertThat(histories).flatExtracting(order -> Judge.judge(order, APPENDED)).isNotEmpty();
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
    assertThat(records.histories(new Acknowledgements(), Map.of()))
        .flatExtracting(OrderHistory::cancellations)
        .extracting(HistoryEvent.Cancellation::fault)
        .containsExactly("ce_id differs from the event id: e2", null);
    assertThat(records.cancellations()).isEqualTo(2);
  }

  @Test
  void acceptsGarbageThatWasDeadLetteredUnchanged() {
    garbage("nonsense");
    letter(0, "nonsense", DeadLetterJudge.GARBAGE_HEADER, "yes");
    letter(0, "nonsense", DeadLetterJudge.GARBAGE_HEADER, "yes");
    assertThat(records.deadLetters().judge()).isEmpty();
    assertThat(records.deadLetters().duplicates()).isEqualTo(1);
  }

  @Test
  void acceptsAnOrderThatArrivedAfterItsDeadline() {
    add(TOPICS.created(), "a", "\"payBy\":\"2026-01-01T00:00:00.5Z\"");
    assertThat(records.deadLetters().judge()).isEmpty();
    assertThat(records.histories(new Acknowledgements(), Map.of()))
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
    garbage("more");
    letter(2, "more");
    assertThat(records.deadLetters().judge())
        .extracting(Violation::kind)
        .containsExactly(Kind.WRONG_FIELDS, Kind.WRONG_FIELDS);
  }

  @Test
  void reportsAUsableEventThatWasDeadLettered() {
    add(TOPICS.created(), "a", "\"timeout\":\"PT9S\"");
    letter(0, "{}");
    assertThat(records.deadLetters().judge())
        .extracting(Violation::kind)
        .containsExactly(Kind.UNEXPECTED_DEAD_LETTER);
  }

  private void garbage(String value) {
    records.add(record(TOPICS.created(), "g", value, DeadLetterJudge.GARBAGE_HEADER, "yes"));
  }

  private void letter(long origin, String value, String... headers) {
    ConsumerRecord<byte[], byte @Nullable []> letter =
        record(TopicNames.deadLetters(TOPICS.created()), "g", value, headers);
    letter
        .headers()
        .add("x-topic", Shop.utf8(TOPICS.created()))
        .add("x-partition", Shop.utf8("0"))
        .add("x-offset", Shop.utf8(String.valueOf(origin)))
        .add("x-error", Shop.utf8("because"));
    records.add(letter);
  }

  private void add(String topic, String orderId, String fields, String... headers) {
    records.add(
        record(topic, orderId, "{\"orderId\":\"" + orderId + "\"," + fields + "}", headers));
  }

  private ConsumerRecord<byte[], byte @Nullable []> record(
      String topic, String key, String value, String... headers) {
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
        key.length(),
        value.length(),
        Shop.utf8(key),
        Shop.utf8(value),
        all,
        Optional.empty());
  }
}
