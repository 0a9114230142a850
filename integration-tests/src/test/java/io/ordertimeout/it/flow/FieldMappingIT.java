package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.rig.Database;
import io.ordertimeout.it.rig.PublishedEvent;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Shop;
import io.ordertimeout.it.rig.Stage;
import io.ordertimeout.it.rig.TopicNames;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

/** A shop whose events have other names for the same things. */
class FieldMappingIT {

  @Test
  void fieldsAreFoundUnderConfiguredNamesAndPointers() {
    try (Stage stage = Stage.create();
        Service service =
            stage.startService(
                "order-timeout.intake.fields.order-id", "/order/number",
                "order-timeout.intake.fields.created-at", "/order/placed~1at",
                "order-timeout.intake.fields.timeout", "hold",
                "order-timeout.intake.fields.payment-id", "/payment/reference",
                "order-timeout.intake.fields.paid-at", "/payment/times/0",
                "order-timeout.intake.fields.reason", "why")) {
      TopicNames topics = stage.topics();
      Instant placedAt = Instant.now().truncatedTo(ChronoUnit.MILLIS);
      for (String orderId : new String[] {"unpaid", "paid", "closed"}) {
        send(
            stage,
            topics.created(),
            orderId,
            Map.of(
                "order",
                Map.of("number", orderId, "placed/at", placedAt.toString()),
                "hold",
                "PT2S",
                "timeout",
                "PT1H",
                "orderId",
                7));
      }
      send(
          stage,
          topics.paid(),
          "paid",
          Map.of(
              "order",
              Map.of("number", "paid"),
              "payment",
              Map.of("reference", "p1", "times", new String[] {placedAt.toString()})));
      send(
          stage,
          topics.closed(),
          "closed",
          Map.of("order", Map.of("number", "closed"), "why", "FRAUD"));

      PublishedEvent event = stage.outcomes().awaitCancelled("unpaid");
      stage.awaitAllDecided();

      assertThat(event.instant("createdAt")).isEqualTo(placedAt);
      assertThat(event.instant("deadline")).isEqualTo(placedAt.plusSeconds(2));
      Database database = stage.database();
      assertThat(database.state("paid")).isEqualTo("PAID");
      assertThat(database.column("paid", "payment_id")).isEqualTo("p1");
      assertThat(database.column("paid", "paid_at = timestamptz '" + placedAt + "'"))
          .isEqualTo("true");
      assertThat(database.state("closed")).isEqualTo("CLOSED");
      assertThat(database.column("closed", "close_reason")).isEqualTo("FRAUD");
      assertThat(stage.outcomes().cancelled()).hasSize(1);
      assertThat(stage.outcomes().deadLetters()).isEmpty();
      assertThat(service.counter("order.timeout.replaced.fields")).isZero();
    }
  }

  private static void send(Stage stage, String topic, String key, Map<String, ?> event) {
    Shop.await(stage.shop().send(new ProducerRecord<>(topic, Shop.utf8(key), Shop.json(event))));
  }
}
