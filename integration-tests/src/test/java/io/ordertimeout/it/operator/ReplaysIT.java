package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import io.ordertimeout.it.traffic.Deadlines;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** A replay says what its record said, whatever it leaves out and however late it is published. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReplaysIT {

  private static final int PARTITION = 0;

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();
  private final Http operator = service.http().operator();
  private final TopicNames topics = scenario.topics();

  @Test
  void aPaymentThatWasAppliedAndDeadLetteredConflictsOnceHoweverOftenItIsReplayed() {
    scenario.createPending("refunded-once", PARTITION);
    cancel("refunded-once");
    send(topics.paid(), null, "{\"orderId\":\"refunded-once\"}");
    PublishedEvent conflict = scenario.outcomes().awaitConflicts("refunded-once", 1).get(0);

    PublishedEvent letter = awaitLetter(topics.paid(), "refunded-once", 1);
    replay(letter, Map.of());
    // It has no key, so it becomes a dead letter again.
    replay(awaitLetter(topics.paid(), "refunded-once", 2), Map.of());
    replay(awaitLetter(topics.paid(), "refunded-once", 3), Map.of("key", "refunded-once"));
    scenario.awaitQuiet();

    assertThat(letters(topics.paid(), "refunded-once")).hasSize(3);
    assertThat(scenario.outcomes().conflicts("refunded-once"))
        .extracting(event -> event.text("eventId"))
        .containsExactly(conflict.text("eventId"));
  }

  @Test
  void aPaymentThatWasAppendedInTimeIsInTimeWhenItIsCorrectedAfterTheDeadline() {
    scenario.createPending("paid-in-time", PARTITION);
    // Neither the key nor the value tells the order, so it is not parked.
    RecordMetadata sent = send(topics.paid(), null, "{\"order\":\"paid-in-time\"}");
    PublishedEvent letter = awaitLetter(topics.paid(), "paid-in-time", 1);
    cancel("paid-in-time");

    replay(letter, Map.of("key", "paid-in-time", "value", "{\"orderId\":\"paid-in-time\"}"));

    PublishedEvent conflict = scenario.outcomes().awaitConflicts("paid-in-time", 1).get(0);
    assertThat(conflict.text("kind")).isEqualTo("PAID_IN_TIME_DELIVERED_LATE");
    assertThat(conflict.instant("paidAt")).isEqualTo(Instant.ofEpochMilli(sent.timestamp()));
    assertThat(conflict.text("paymentId"))
        .isEqualTo(topics.paid() + "-" + sent.partition() + "-" + sent.offset());
  }

  @Test
  void aCreatedOrderWithoutAKeyIsRepairedByOneAndItsTimeToPayGoesOn() {
    RecordMetadata sent =
        send(topics.created(), null, "{\"orderId\":\"keyless\",\"timeout\":\"PT1H\"}");

    replay(awaitLetter(topics.created(), "keyless", 1), Map.of("key", "keyless"));

    scenario.awaitState("keyless", "PENDING");
    assertThat(
            scenario
                .database()
                .column(
                    "keyless",
                    "created_at = timestamptz '" + Instant.ofEpochMilli(sent.timestamp()) + "'"))
        .isEqualTo("true");
    scenario.awaitQuiet();
    assertThat(letters(topics.created(), "keyless")).hasSize(1);
  }

  /** A row of payments that has no id of the payment, and that the shop updates. */
  @Test
  void recordsThatStateTheSameTimeTellOfTheSamePayment() {
    scenario.createPending("row-updated", PARTITION);
    cancel("row-updated");
    String payment = "{\"orderId\":\"row-updated\",\"paidAt\":\"%s\",\"status\":\"%s\"}";
    send(topics.paid(), "row-updated", payment.formatted("2026-01-01T00:00:00Z", "CAPTURED"));
    send(topics.paid(), "row-updated", payment.formatted("2026-01-01T00:00:00Z", "BOOKED"));
    send(topics.paid(), "row-updated", payment.formatted("2026-01-01T00:00:01Z", "CAPTURED"));
    scenario.awaitQuiet();

    assertThat(scenario.outcomes().awaitConflicts("row-updated", 2))
        .extracting(conflict -> conflict.text("paymentId"))
        .containsExactlyInAnyOrder("paid-at-2026-01-01T00:00:00Z", "paid-at-2026-01-01T00:00:01Z");
  }

  private void cancel(String orderId) {
    Deadlines.passNow(scenario.database(), orderId);
    scenario.outcomes().awaitCancelled(orderId);
  }

  private void replay(PublishedEvent letter, Map<String, String> corrections) {
    Map<String, String> request = new HashMap<>(corrections);
    request.put("reason", "the producer was wrong");
    operator
        .post(
            "/api/v1/dead-letters/%s/%d/%d/replay"
                .formatted(
                    letter.record().topic(), letter.record().partition(), letter.record().offset()),
            request)
        .assertOk();
  }

  private PublishedEvent awaitLetter(String topic, String orderId, int number) {
    await("dead letter " + number + " of " + orderId)
        .until(() -> letters(topic, orderId).size() >= number);
    return letters(topic, orderId).get(number - 1);
  }

  private List<PublishedEvent> letters(String topic, String orderId) {
    return scenario.outcomes().deadLetters(topic).stream()
        .filter(letter -> value(letter).contains(orderId))
        .toList();
  }

  private static String value(PublishedEvent letter) {
    return new String(letter.record().value(), StandardCharsets.UTF_8);
  }

  private RecordMetadata send(String topic, @Nullable String key, String value) {
    byte @Nullable [] bytes = key == null ? null : Shop.utf8(key);
    return Shop.await(
        scenario.shop().send(new ProducerRecord<>(topic, PARTITION, bytes, Shop.utf8(value))));
  }
}
