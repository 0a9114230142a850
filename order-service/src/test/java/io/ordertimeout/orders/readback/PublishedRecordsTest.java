package io.ordertimeout.orders.readback;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.order.LostDecisions.Decision;
import io.ordertimeout.orders.order.LostDecisions.PublishedConflict;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.Envelope;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.outbox.OutboxEvent.PaymentConflict;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.relay.Serializers;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The service recognises what it has published, in every format. */
class PublishedRecordsTest {

  private static final Instant TIME = Instant.parse("2026-05-01T12:00:00.000001Z");
  private static final Envelope ENVELOPE = new Envelope(7, "k-631", 2, null, TIME);
  private static final InputTopics.Layout LAYOUT = new InputTopics.Layout(Map.of(), 3, Set.of());

  private static final OrderCancelled CANCELLED =
      new OrderCancelled(ENVELOPE, TIME.minusSeconds(60), TIME, TIME, TIME.plusMillis(5));

  private static final PaymentConflict CONFLICT =
      new PaymentConflict(ENVELOPE, "p", TIME.plusSeconds(1), TIME, null);

  @ParameterizedTest
  @ValueSource(strings = {"binary", "structured", "avro"})
  void ownEventsAreDecoded(String format) {
    Decision decision =
        PublishedRecords.cancellation(published(format, CANCELLED), LAYOUT).orElseThrow();
    assertThat(decision.orderId()).isEqualTo("k-631");
    assertThat(decision.deadline()).isEqualTo(TIME);
    assertThat(decision.cancelledAt()).isEqualTo(TIME.plusMillis(5));

    PublishedConflict conflict =
        PublishedRecords.conflict(published(format, CONFLICT), LAYOUT).orElseThrow();
    assertThat(conflict.paymentId()).isEqualTo("p");
    assertThat(conflict.paidAt()).isEqualTo(TIME.plusSeconds(1));
    assertThat(conflict.decision().cancelledAt()).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"binary", "structured", "avro"})
  void whatOthersHavePublishedIsIgnored(String format) {
    ConsumerRecord<byte[], byte[]> record = published(format, CANCELLED);

    assertThat(
            PublishedRecords.cancellation(
                record("k-632".getBytes(StandardCharsets.UTF_8), record.value()), LAYOUT))
        .isEmpty();
    assertThat(PublishedRecords.conflict(record, LAYOUT)).isEmpty();
  }

  @Test
  void avroOfAnotherSchemaIsIgnored() {
    byte[] key = "k-631".getBytes(StandardCharsets.UTF_8);

    for (byte[] value : new byte[][] {{0, 0, 0, 0, 7}, {0, 0, 0, 0, 7, 2, 65}, {0}}) {
      assertThat(PublishedRecords.cancellation(record(key, value), LAYOUT)).isEmpty();
    }
  }

  private static ConsumerRecord<byte[], byte[]> published(String format, OutboxEvent event) {
    ProducerRecord<byte[], byte[]> record = Serializers.of(format).serialize(event);
    return record(record.key(), record.value());
  }

  private static ConsumerRecord<byte[], byte[]> record(byte[] key, byte[] value) {
    return new ConsumerRecord<>("order-cancelled", 0, 0, key, value);
  }
}
