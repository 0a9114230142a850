package io.ordertimeout.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ShopTrafficTest {
  private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
  private static final LocalOptions.Traffic OPTIONS =
      new LocalOptions.Traffic(
          true,
          50,
          Duration.ofSeconds(20),
          Duration.ofSeconds(60),
          Duration.ofSeconds(60),
          0.85,
          true,
          null);

  @Test
  void sendsEventsWithTheFieldsOfTheService() {
    List<ProducerRecord<String, byte[]>> records = play(1, Duration.ofMinutes(2));

    JsonNode created = json(first(records, "order-created"));
    assertThat(created.propertyNames())
        .containsExactlyInAnyOrder(
            "orderId", "createdAt", "timeout", "channel", "paymentMethod", "amount");
    assertThat(created.path("orderId").asString()).isEqualTo(first(records, "order-created").key());
    assertThat(Instant.parse(created.path("createdAt").asString()))
        .isBetween(START, START.plusSeconds(120));
    assertThat(Duration.parse(created.path("timeout").asString()))
        .isBetween(OPTIONS.timeoutMin(), OPTIONS.timeoutMax());
    assertThat(created.path("amount").path("value").isNumber()).isTrue();
    assertThat(created.path("amount").path("currency").asString()).isEqualTo("EUR");

    JsonNode paid = json(first(records, "order-paid"));
    assertThat(paid.propertyNames()).containsExactlyInAnyOrder("orderId", "paymentId", "paidAt");
    assertThat(Instant.parse(paid.path("paidAt").asString())).isAfter(START);

    JsonNode attempt = json(first(records, "order-payment-attempt"));
    assertThat(attempt.propertyNames()).containsExactlyInAnyOrder("orderId", "attemptId", "status");

    JsonNode changed = json(first(records, "order-changed"));
    assertThat(changed.propertyNames())
        .containsExactlyInAnyOrder("orderId", "changedAt", "timeout");

    JsonNode closed = json(first(records, "order-closed"));
    assertThat(closed.propertyNames()).containsExactlyInAnyOrder("orderId", "closedAt", "reason");
  }

  @Test
  void theSameSeedGivesTheSameTraffic() {
    assertThat(values(play(5, Duration.ofMinutes(1))))
        .isEqualTo(values(play(5, Duration.ofMinutes(1))))
        .isNotEqualTo(values(play(6, Duration.ofMinutes(1))));
  }

  @Test
  void skipsOrdersMissedDuringALongPause() {
    try (MockProducer<String, byte[]> producer = producer();
        ShopTraffic traffic =
            new ShopTraffic(producer, OPTIONS, 1, Clock.fixed(START, ZoneOffset.UTC))) {
      traffic.sendDueEvents(START.plus(Duration.ofHours(8)));
      assertThat(producer.history()).hasSizeLessThan(10);
      traffic.sendDueEvents(START.plus(Duration.ofHours(8)).plusSeconds(4));
      assertThat(producer.history()).hasSizeBetween(50, 1_000);
    }
  }

  private static List<ProducerRecord<String, byte[]>> play(long seed, Duration duration) {
    try (MockProducer<String, byte[]> producer = producer();
        ShopTraffic traffic =
            new ShopTraffic(producer, OPTIONS, seed, Clock.fixed(START, ZoneOffset.UTC))) {
      for (long millis = 0; millis < duration.toMillis(); millis += 10) {
        traffic.sendDueEvents(START.plusMillis(millis));
      }
      return producer.history();
    }
  }

  private static MockProducer<String, byte[]> producer() {
    return new MockProducer<>(true, null, new StringSerializer(), new ByteArraySerializer());
  }

  private static ProducerRecord<String, byte[]> first(
      List<ProducerRecord<String, byte[]>> records, String topic) {
    return records.stream()
        .filter(record -> record.topic().equals(topic))
        .findFirst()
        .orElseThrow();
  }

  private static List<JsonNode> values(List<ProducerRecord<String, byte[]>> records) {
    return records.stream().map(ShopTrafficTest::json).toList();
  }

  private static JsonNode json(ProducerRecord<String, byte[]> record) {
    return JsonMapper.shared().readTree(record.value());
  }
}
