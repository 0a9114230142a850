package io.ordertimeout.it.secure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import org.apache.kafka.clients.producer.ProducerRecord;

/** An order flow that uses every Kafka client of the service. */
final class OrderFlow {

  private OrderFlow() {}

  static void assertOnlyUnpaidOrdersAreCancelled(Scenario scenario) {
    Instant deadline = Scenario.in(Duration.ofSeconds(3));
    scenario.create("unpaid", 0, deadline);
    // Paid before its creation, so that the payment is in time on a machine of any speed.
    scenario.pay("paid", 1);
    scenario.create("paid", 1, deadline);
    Shop.await(
        scenario
            .shop()
            .send(
                new ProducerRecord<>(
                    scenario.topics().created(), 2, Shop.utf8("garbage"), Shop.utf8("{"))));

    scenario.outcomes().awaitCancelled("unpaid");
    scenario.awaitAllDecided();
    assertThat(scenario.outcomes().cancelled()).hasSize(1);
    assertThat(scenario.outcomes().deadLetters()).hasSize(1);
    assertThat(scenario.database().state("paid")).isEqualTo("PAID");
  }
}
