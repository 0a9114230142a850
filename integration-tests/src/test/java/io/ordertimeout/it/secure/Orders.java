package io.ordertimeout.it.secure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.rig.Shop;
import io.ordertimeout.it.rig.Stage;
import java.time.Duration;
import java.time.Instant;
import org.apache.kafka.clients.producer.ProducerRecord;

/** A scenario in which every client of the service has to do its part. */
final class Orders {

  private Orders() {}

  static void assertUnpaidOnesAloneAreCancelled(Stage stage) {
    Instant deadline = Stage.in(Duration.ofSeconds(3));
    stage.create("unpaid", 0, deadline);
    // Its payment comes first: then it is in time, however long all this takes.
    stage.pay("paid", 1);
    stage.create("paid", 1, deadline);
    Shop.await(
        stage
            .shop()
            .send(
                new ProducerRecord<>(
                    stage.topics().created(), 2, Shop.utf8("garbage"), Shop.utf8("{"))));

    stage.outcomes().awaitCancelled("unpaid");
    stage.awaitAllDecided();
    assertThat(stage.outcomes().cancelled()).hasSize(1);
    assertThat(stage.outcomes().deadLetters()).hasSize(1);
    assertThat(stage.database().state("paid")).isEqualTo("PAID");
  }
}
