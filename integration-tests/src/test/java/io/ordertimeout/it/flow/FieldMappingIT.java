package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

/** Events of a shop that uses other field names. */
class FieldMappingIT {

  @Test
  void fieldsAreReadByConfiguredNamesAndJsonPointers() {
    try (Scenario scenario = Scenario.create();
        Service service =
            scenario.startService(
                "order-timeout.intake.fields.order-id", "/order/number",
                "order-timeout.intake.fields.created-at", "/order/placed~1at",
                "order-timeout.intake.fields.timeout", "hold",
                "order-timeout.intake.fields.payment-id", "/payment/reference",
                "order-timeout.intake.fields.paid-at", "/payment/times/0",
                "order-timeout.intake.fields.reason", "why")) {
      TopicNames topics = scenario.topics();
      Instant placedAt = Instant.now().truncatedTo(ChronoUnit.MILLIS);
      for (String orderId : new String[] {"unpaid", "paid", "closed"}) {
        send(
            scenario,
            topics.created(),
            orderId,
            Map.of(
                "order",
                Map.of("number", orderId, "placed/at", placedAt.toString()),
                "hold",
                "PT1S",
                "timeout",
                "PT1H",
                "orderId",
                7));
      }
      send(
          scenario,
          topics.paid(),
          "paid",
          Map.of(
              "order",
              Map.of("number", "paid"),
              "payment",
              Map.of("reference", "p1", "times", new String[] {placedAt.toString()})));
      send(
          scenario,
          topics.closed(),
          "closed",
          Map.of("order", Map.of("number", "closed"), "why", "FRAUD"));

      PublishedEvent event = scenario.outcomes().awaitCancelled("unpaid");
      scenario.awaitAllDecided();

      assertThat(event.instant("createdAt")).isEqualTo(placedAt);
      assertThat(event.instant("deadline")).isEqualTo(placedAt.plusSeconds(1));
      Database database = scenario.database();
      assertThat(database.state("paid")).isEqualTo("PAID");
      assertThat(database.column("paid", "payment_id")).isEqualTo("p1");
      assertThat(database.column("paid", "paid_at = timestamptz '" + placedAt + "'"))
          .isEqualTo("true");
      assertThat(database.state("closed")).isEqualTo("CLOSED");
      assertThat(database.column("closed", "close_reason")).isEqualTo("FRAUD");
      assertThat(scenario.outcomes().cancelled()).hasSize(1);
      assertThat(scenario.outcomes().deadLetters()).isEmpty();
      assertThat(service.counter("order.timeout.replaced.fields")).isZero();
    }
  }

  private static void send(Scenario scenario, String topic, String key, Map<String, ?> event) {
    Shop.await(scenario.shop().send(new ProducerRecord<>(topic, Shop.utf8(key), Shop.json(event))));
  }
}
