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
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/**
 * Rows that Postgres rejects because of constraints or triggers that the shop has added, and
 * payments of which only the key is readable.
 */
@Order(80)
class RejectedRowIT {

  private static final int OTHERS = 100;
  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @Test
  void aRejectedOrderIsDeadLetteredAndTheRestOfItsBatchIsStored() {
    database.execute(
        "alter table order_deadline add check (order_id not like 'refused%') not valid");
    createAmongOthers("refused", Scenario.in(Duration.ZERO));

    try (Service service = scenario.startService()) {
      await("cancellations").until(() -> scenario.outcomes().cancelled().size() == OTHERS);
      assertThat(service.gauge("order.timeout.parked")).isZero();
    }
    List<PublishedEvent> letters = scenario.outcomes().deadLetters(scenario.topics().created());
    assertThat(letters).extracting(PublishedEvent::key).containsExactly("refused");
    assertThat(letters.get(0).header("x-error")).contains("23514").contains("is not watched");
    assertThat(database.state("refused")).isNull();
  }

  @Test
  void anOrderThatIsRejectedOnlyByTheCommitIsDeadLetteredToo() {
    database.execute(
        """
        create function refuse() returns trigger language plpgsql as $$
        begin
          raise exception 'refused' using errcode = 'P0001';
        end $$
        """);
    database.execute(
        "create constraint trigger refusal after insert on order_deadline"
            + " deferrable initially deferred for each row"
            + " when (new.order_id = 'refused') execute function refuse()");
    createAmongOthers("refused", Scenario.in(Duration.ZERO));

    try (Service service = scenario.startService()) {
      await("cancellations").until(() -> scenario.outcomes().cancelled().size() == OTHERS);
      service.awaitReady(true);
    }
    assertThat(scenario.outcomes().deadLetters(scenario.topics().created()))
        .extracting(PublishedEvent::key)
        .containsExactly("refused");
  }

  @Test
  void aBatchThatPostgresMostlyRejectsIsRetriedInsteadOfDeadLettered() {
    database.execute(
        "alter table order_deadline add constraint broken check (order_id not like 'refused%')"
            + " not valid");
    for (int i = 0; i < OTHERS; i++) {
      String prefix = i % 3 == 0 ? "other-" : "refused-";
      scenario.create(prefix + i, 0, Scenario.in(Duration.ofHours(1)));
    }

    try (Service service = scenario.startService()) {
      await("the intake to fail")
          .until(() -> service.gauge("order.timeout.failing", "step", "intake-0") > 0);
      assertThat(service.isReady()).isFalse();

      database.execute("alter table order_deadline drop constraint broken");

      await("all orders").until(() -> database.pending() == OTHERS);
      service.awaitReady(true);
      assertThat(service.counter("order.timeout.dead.letters")).isZero();
    }
    assertThat(scenario.outcomes().deadLetters()).isEmpty();
  }

  @Test
  void anOrderWhosePaymentIsRejectedIsNotCancelled() {
    database.execute("alter table order_deadline add check (payment_id <> 'refused') not valid");
    createAmongOthers("paid-but-refused", Scenario.in(Duration.ZERO));
    scenario.shop().paid("paid-but-refused", Map.of("paymentId", "refused"));
    scenario.shop().paid("other-0", "fine");

    try (Service service = scenario.startService()) {
      await("cancellations").until(() -> scenario.outcomes().cancelled().size() == OTHERS - 1);
      assertThat(database.state("other-0")).isEqualTo("PAID");
      assertThat(database.state("paid-but-refused")).isEqualTo("PENDING");
      await("the gauge")
          .untilAsserted(() -> assertThat(service.gauge("order.timeout.parked")).isEqualTo(1));
    }
    assertThat(
            database.count(
                "select count(*) from parked_order where order_id = 'paid-but-refused'"
                    + " and reason like '%23514%'"))
        .isEqualTo(1);
    assertThat(
            database.count(
                "select count(*) from parked_order join intake_position p"
                    + " on p.xmin::text = parked_order.xmin::text"
                    + " where order_id = 'paid-but-refused'"))
        .as("positions that were advanced by the transaction that parked the order")
        .isPositive();
    assertThat(scenario.outcomes().deadLetters(scenario.topics().paid()))
        .extracting(PublishedEvent::key)
        .containsExactly("paid-but-refused");
  }

  @Test
  void anOrderWhoseCancellationIsRejectedIsParkedUntilTheCauseIsFixed() {
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
      createAmongOthers("stubborn", Scenario.in(Duration.ZERO));

      await("cancellations").until(() -> scenario.outcomes().cancelled().size() == OTHERS);
      assertThat(database.state("stubborn")).isEqualTo("PENDING");
      await("parking")
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
  void anOrderWithAnUnreadablePaymentIsParkedUntilAReadableOneArrives() {
    try (Service service = scenario.startService()) {
      pay("paid-before-it-was-created", "Obj avro");
      Instant deadline = Scenario.in(Duration.ofSeconds(4));
      scenario.create("paid-unreadably", 0, deadline);
      scenario.create("paid-by-an-empty-value", 0, deadline);
      pay("paid-unreadably", "{\"order_id\":\"paid-unreadably\"}");
      RecordMetadata last = pay("paid-by-an-empty-value", "");
      assertThat(Instant.ofEpochMilli(last.timestamp())).as("the last payment").isBefore(deadline);
      createAmongOthers("paid-before-it-was-created", deadline);

      await("cancellations").until(() -> scenario.outcomes().cancelled().size() == OTHERS);
      await("the gauge")
          .untilAsserted(() -> assertThat(service.gauge("order.timeout.parked")).isEqualTo(3));
      assertThat(scenario.outcomes().deadLetters(scenario.topics().paid()))
          .hasSize(3)
          .allSatisfy(letter -> assertThat(letter.header("x-error")).contains("is parked"));

      scenario.shop().paid("paid-unreadably", "readable");
      scenario.awaitState("paid-unreadably", "PAID");
      assertThat(database.state("paid-by-an-empty-value")).isEqualTo("PENDING");
      assertThat(database.state("paid-before-it-was-created")).isEqualTo("PENDING");
    }
  }

  private RecordMetadata pay(String orderId, @Nullable String value) {
    return Shop.await(
        scenario
            .shop()
            .send(
                new ProducerRecord<>(
                    scenario.topics().paid(),
                    0,
                    Shop.utf8(orderId),
                    value == null ? null : Shop.utf8(value))));
  }

  private void createAmongOthers(String orderId, Instant deadline) {
    IntStream.range(0, OTHERS / 2).forEach(i -> scenario.create("other-" + i, 0, deadline));
    scenario.create(orderId, 0, deadline);
    IntStream.range(OTHERS / 2, OTHERS).forEach(i -> scenario.create("other-" + i, 0, deadline));
  }
}
