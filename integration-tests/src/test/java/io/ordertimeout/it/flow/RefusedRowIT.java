package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Rows that Postgres refuses, because the shop's own constraints or triggers stand against them,
 * and payments of which nothing but their key can be read.
 */
class RefusedRowIT {

  private static final int OTHERS = 100;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void anOrderThatIsRefusedIsADeadLetterAndTheOthersOfItsBatchAreWatched() {
    prepareSchema();
    database.execute(
        "alter table order_deadline add check (order_id not like 'refused%') not valid");
    Instant deadline = Scenario.in(Duration.ofSeconds(2));
    createAmongOthers("refused", deadline);

    try (Service again = scenario.startService()) {
      await("cancellations")
          .atMost(PATIENCE)
          .until(() -> scenario.outcomes().cancelled().size() == OTHERS);
      assertThat(again.gauge("order.timeout.parked")).isZero();
    }
    List<PublishedEvent> letters = scenario.outcomes().deadLetters(scenario.topics().created());
    assertThat(letters).extracting(PublishedEvent::key).containsExactly("refused");
    assertThat(letters.get(0).header("x-error")).contains("23514").contains("is not watched");
    assertThat(database.state("refused")).isNull();
  }

  @Test
  void anOrderWhosePaymentIsRefusedIsNotCancelled() {
    prepareSchema();
    database.execute("alter table order_deadline add check (payment_id <> 'refused') not valid");
    Instant deadline = Scenario.in(Duration.ofSeconds(10));
    createAmongOthers("paid-but-refused", deadline);
    scenario.shop().paid("paid-but-refused", Map.of("paymentId", "refused"));
    scenario.shop().paid("other-0", "fine");

    try (Service again = scenario.startService()) {
      await("cancellations")
          .atMost(PATIENCE)
          .until(() -> scenario.outcomes().cancelled().size() == OTHERS - 1);
      assertThat(database.state("other-0")).isEqualTo("PAID");
      assertThat(database.state("paid-but-refused")).isEqualTo("PENDING");
      await("the gauge")
          .atMost(PATIENCE)
          .untilAsserted(() -> assertThat(again.gauge("order.timeout.parked")).isEqualTo(1));
    }
    assertThat(
            database.count(
                "select count(*) from parked_order where order_id = 'paid-but-refused'"
                    + " and reason like '%23514%'"))
        .isEqualTo(1);
    assertThat(scenario.outcomes().deadLetters(scenario.topics().paid()))
        .extracting(PublishedEvent::key)
        .containsExactly("paid-but-refused");
  }

  @Test
  void anOrderThatMayNotBeCancelledIsParkedUntilAnOperatorHasMendedIt() {
    try (Service service =
        scenario.startService(
            "order-timeout.reconciler.interval",
            "1s",
            "order-timeout.reconciler.confirm-after",
            "1s")) {
      database.execute(
          """
          create function refuse() returns trigger language plpgsql as
          $$ begin raise exception 'not this one'; end $$
          """);
      database.execute(
          """
          create trigger refuse before update on order_deadline for each row
          when (new.state = 'CANCELLED' and new.order_id = 'stubborn') execute function refuse()
          """);
      createAmongOthers("stubborn", Scenario.in(Duration.ofSeconds(3)));

      await("cancellations")
          .atMost(PATIENCE)
          .until(() -> scenario.outcomes().cancelled().size() == OTHERS);
      assertThat(database.state("stubborn")).isEqualTo("PENDING");
      await("parking")
          .atMost(PATIENCE)
          .until(
              () ->
                  database.count(
                          "select count(*) from parked_order where order_id = 'stubborn'"
                              + " and reason like '%P0001%not this one%'")
                      == 1);

      database.execute("drop trigger refuse on order_deadline");
      database.execute("delete from parked_order where order_id = 'stubborn'");

      assertThat(scenario.outcomes().awaitCancelled("stubborn").text("orderId"))
          .isEqualTo("stubborn");
      assertThat(service.counter("order.timeout.cancelled")).isEqualTo(OTHERS + 1.0);
    }
  }

  @Test
  void anOrderWhosePaymentCannotBeDecodedIsNotCancelledAndAGoodPaymentEndsTheDoubt() {
    try (Service service = scenario.startService()) {
      Instant deadline = Scenario.in(Duration.ofSeconds(4));
      pay("paid-before-it-was-created", "Obj avro");
      createAmongOthers("paid-unreadably", deadline);
      scenario.create("paid-before-it-was-created", 0, deadline);
      scenario.create("paid-by-tombstone", 0, deadline);
      pay("paid-unreadably", "{\"order_id\":\"paid-unreadably\"}");
      pay("paid-by-tombstone", null);

      await("cancellations")
          .atMost(PATIENCE)
          .until(() -> scenario.outcomes().cancelled().size() == OTHERS);
      await("the gauge")
          .atMost(PATIENCE)
          .untilAsserted(() -> assertThat(service.gauge("order.timeout.parked")).isEqualTo(3));
      assertThat(scenario.outcomes().deadLetters(scenario.topics().paid()))
          .hasSize(3)
          .allSatisfy(letter -> assertThat(letter.header("x-error")).contains("is parked"));

      scenario.shop().paid("paid-unreadably", "readable");
      scenario.awaitState("paid-unreadably", "PAID");
      assertThat(database.state("paid-by-tombstone")).isEqualTo("PENDING");
      assertThat(database.state("paid-before-it-was-created")).isEqualTo("PENDING");
    }
  }

  private void pay(String orderId, @Nullable String value) {
    Shop.await(
        scenario
            .shop()
            .send(
                new ProducerRecord<>(
                    scenario.topics().paid(),
                    0,
                    Shop.utf8(orderId),
                    value == null ? null : Shop.utf8(value))));
  }

  /** The schema is there, and nobody reads. */
  private void prepareSchema() {
    scenario.startService().close();
  }

  private void createAmongOthers(String orderId, Instant deadline) {
    IntStream.range(0, OTHERS / 2).forEach(i -> scenario.create("other-" + i, 0, deadline));
    scenario.create(orderId, 0, deadline);
    IntStream.range(OTHERS / 2, OTHERS).forEach(i -> scenario.create("other-" + i, 0, deadline));
  }
}
