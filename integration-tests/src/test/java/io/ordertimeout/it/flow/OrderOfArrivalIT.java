package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Outcomes;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Events of one order in every sequence, as the table of the documents lists them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(60)
class OrderOfArrivalIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();
  private final Shop shop = scenario.shop();
  private final Outcomes outcomes = scenario.outcomes();
  private final Database database = scenario.database();

  @Test
  void aCreatedOrderIsPendingUntilItsDeadline() {
    Instant createdAt = now();
    shop.created("fresh", Map.of("createdAt", createdAt.toString()));
    scenario.awaitQuiet();

    assertThat(database.state("fresh")).isEqualTo("PENDING");
    assertThat(database.deadline("fresh")).isEqualTo(createdAt.plus(Duration.ofMinutes(15)));
  }

  @Test
  void aRedeliveredCreationChangesNothing() {
    Map<String, String> event = Map.of("createdAt", now().toString(), "timeout", "PT1S");
    for (int i = 0; i < 3; i++) {
      shop.created("again", event);
    }
    outcomes.awaitCancelled("again");
    shop.created("again", event);
    scenario.awaitQuiet();

    assertThat(outcomes.cancelled("again")).hasSize(1);
    assertThat(database.state("again")).isEqualTo("CANCELLED");
  }

  @Test
  void aRedeliveredCreationDoesNotShortenTheDeadline() {
    Instant createdAt = now();
    shop.created("shorten", Map.of("createdAt", createdAt.toString(), "timeout", "PT1H"));
    scenario.awaitQuiet();
    shop.created("shorten", Map.of("createdAt", createdAt.toString(), "timeout", "PT0.1S"));
    passSomeDeadline();

    assertThat(database.deadline("shorten")).isEqualTo(createdAt.plus(Duration.ofHours(1)));
    assertThat(database.state("shorten")).isEqualTo("PENDING");
  }

  @Test
  void aRedeliveredCreationDoesNotExtendTheDeadline() {
    Instant createdAt = now();
    shop.created("extend", Map.of("createdAt", createdAt.toString(), "timeout", "PT2S"));
    scenario.awaitQuiet();
    shop.created("extend", Map.of("createdAt", createdAt.toString(), "timeout", "PT1H"));

    assertThat(outcomes.awaitCancelled("extend").instant("deadline"))
        .isEqualTo(createdAt.plusSeconds(2));
  }

  @Test
  void aPaymentBeforeTheCreationSettlesTheOrder() {
    shop.paid("paid-first", "p1");
    scenario.awaitQuiet();
    assertThat(database.state("paid-first")).isEqualTo("PAID");

    Instant createdAt = now();
    shop.created("paid-first", Map.of("createdAt", createdAt.toString(), "timeout", "PT0.1S"));
    passSomeDeadline();

    assertThat(database.state("paid-first")).isEqualTo("PAID");
    assertThat(database.deadline("paid-first")).isEqualTo(createdAt.plusMillis(100));
    assertThat(outcomes.cancelled("paid-first")).isEmpty();
  }

  @Test
  void aClosingBeforeTheCreationSettlesTheOrder() {
    shop.closed("closed-first");
    scenario.awaitQuiet();
    assertThat(database.state("closed-first")).isEqualTo("CLOSED");

    Instant createdAt = now();
    shop.created("closed-first", Map.of("createdAt", createdAt.toString(), "timeout", "PT0.1S"));
    passSomeDeadline();

    assertThat(database.state("closed-first")).isEqualTo("CLOSED");
    assertThat(database.deadline("closed-first")).isEqualTo(createdAt.plusMillis(100));
    assertThat(outcomes.cancelled("closed-first")).isEmpty();
  }

  @Test
  void anOrderOverdueOnArrivalIsCancelledAtOnce() {
    Instant createdAt = now().minus(Duration.ofHours(2));
    shop.created("overdue", Map.of("createdAt", createdAt.toString(), "timeout", "PT1H"));

    PublishedEvent event = outcomes.awaitCancelled("overdue");
    assertThat(event.instant("deadline")).isEqualTo(createdAt.plus(Duration.ofHours(1)));
    scenario.awaitQuiet();
    assertThat(outcomes.cancelled("overdue")).hasSize(1);
  }

  @Test
  void aStaleOrderIsClosedWithoutAnEvent() {
    double before = service.counter("order.timeout.events", "event", "created", "outcome", "stale");
    Instant createdAt = now().minus(Duration.ofHours(26));
    shop.created("stale", Map.of("createdAt", createdAt.toString(), "timeout", "PT1H"));
    passSomeDeadline();
    shop.paid("stale", "p1");
    scenario.awaitQuiet();

    assertThat(database.state("stale")).isEqualTo("CLOSED");
    assertThat(database.column("stale", "decided_by")).isEqualTo("STALE");
    assertThat(outcomes.cancelled("stale")).isEmpty();
    assertThat(outcomes.conflicts("stale")).isEmpty();
    assertThat(service.counter("order.timeout.events", "event", "created", "outcome", "stale"))
        .isEqualTo(before + 1);
  }

  @Test
  void aSecondPaymentIsCountedAndChangesNothing() {
    double before =
        service.counter("order.timeout.events", "event", "paid", "outcome", "second_payment");
    shop.created("paid-twice", Map.of());
    shop.paid("paid-twice", "p1");
    scenario.awaitQuiet();
    shop.paid("paid-twice", "p2");
    scenario.awaitQuiet();

    assertThat(database.state("paid-twice")).isEqualTo("PAID");
    assertThat(database.column("paid-twice", "payment_id")).isEqualTo("p1");
    assertThat(outcomes.conflicts("paid-twice")).isEmpty();
    assertThat(
            service.counter("order.timeout.events", "event", "paid", "outcome", "second_payment"))
        .isEqualTo(before + 1);
  }

  @Test
  void everyEventMayBeDeliveredTwice() {
    for (int i = 0; i < 2; i++) {
      shop.created("all-twice-paid", Map.of("timeout", "PT1H"));
      shop.created("all-twice-closed", Map.of("timeout", "PT1H"));
    }
    for (int i = 0; i < 2; i++) {
      shop.paid("all-twice-paid", "p1");
      shop.closed("all-twice-closed");
    }
    scenario.awaitQuiet();

    assertThat(database.state("all-twice-paid")).isEqualTo("PAID");
    assertThat(database.state("all-twice-closed")).isEqualTo("CLOSED");
    for (String orderId : List.of("all-twice-paid", "all-twice-closed")) {
      assertThat(outcomes.cancelled(orderId)).isEmpty();
      assertThat(outcomes.conflicts(orderId)).isEmpty();
    }
  }

  @Test
  void aClosingAfterTheCancellationChangesNothing() {
    cancelled("closed-late");
    shop.closed("closed-late");
    scenario.awaitQuiet();

    assertThat(database.state("closed-late")).isEqualTo("CANCELLED");
    assertThat(outcomes.cancelled("closed-late")).hasSize(1);
    assertThat(outcomes.conflicts("closed-late")).isEmpty();
  }

  @Test
  void aClosingAfterThePaymentChangesNothing() {
    shop.created("paid-then-closed", Map.of());
    shop.paid("paid-then-closed", "p1");
    scenario.awaitQuiet();
    shop.closed("paid-then-closed");
    scenario.awaitQuiet();

    assertThat(database.state("paid-then-closed")).isEqualTo("PAID");
    assertThat(outcomes.conflicts("paid-then-closed")).isEmpty();
  }

  @Test
  void aPaymentAfterTheCancellationIsOneConflictHoweverOftenItIsDelivered() {
    PublishedEvent cancellation = cancelled("late-money");
    Instant deadline = cancellation.instant("deadline");
    Map<String, String> payment =
        Map.of("paymentId", "p1", "paidAt", deadline.plusMillis(1).toString());
    shop.paid("late-money", payment);
    shop.paid("late-money", payment);
    PublishedEvent conflict = outcomes.awaitConflicts("late-money", 1).get(0);
    scenario.awaitQuiet();
    // Also after the first is published.
    shop.paid("late-money", payment);
    scenario.awaitQuiet();

    assertThat(outcomes.conflicts("late-money")).hasSize(1);
    assertThat(database.state("late-money")).isEqualTo("CANCELLED");
    assertThat(conflict.body().propertyNames())
        .containsExactlyInAnyOrder(
            "eventId", "orderId", "paymentId", "paidAt", "deadline", "cancelledAt", "kind");
    assertThat(conflict.text("orderId")).isEqualTo("late-money").isEqualTo(conflict.key());
    assertThat(conflict.text("paymentId")).isEqualTo("p1");
    assertThat(conflict.instant("paidAt")).isEqualTo(deadline.plusMillis(1));
    assertThat(conflict.instant("deadline")).isEqualTo(deadline);
    assertThat(conflict.instant("cancelledAt")).isEqualTo(cancellation.instant("cancelledAt"));
    assertThat(conflict.text("kind")).isEqualTo("PAID_LATE");
    assertThat(UUID.fromString(conflict.text("eventId")))
        .hasToString(conflict.header("ce_id"))
        .isNotEqualTo(UUID.fromString(cancellation.text("eventId")));
    assertThat(conflict.header("ce_type")).isEqualTo("io.ordertimeout.order-payment-conflict");
  }

  @Test
  void aPaymentMadeInTimeButDeliveredAfterTheCancellationSaysSo() {
    Instant deadline = cancelled("slow-money").instant("deadline");
    shop.paid("slow-money", Map.of("paymentId", "p1", "paidAt", deadline.toString()));

    assertThat(outcomes.awaitConflicts("slow-money", 1).get(0).text("kind"))
        .isEqualTo("PAID_IN_TIME_DELIVERED_LATE");
  }

  @Test
  void twoPaymentsAfterTheCancellationAreTwoConflicts() {
    cancelled("twice-late");
    shop.paid("twice-late", "p1");
    shop.paid("twice-late", "p2");
    List<PublishedEvent> conflicts = outcomes.awaitConflicts("twice-late", 2);
    scenario.awaitQuiet();

    assertThat(outcomes.conflicts("twice-late")).hasSize(2);
    assertThat(conflicts)
        .extracting(conflict -> conflict.text("paymentId"))
        .containsExactlyInAnyOrder("p1", "p2");
    assertThat(conflicts).extracting(conflict -> conflict.text("eventId")).doesNotHaveDuplicates();
  }

  @Test
  void aPaymentAfterTheClosingIsOneConflict() {
    shop.created("closed-then-paid", Map.of());
    shop.closed("closed-then-paid");
    scenario.awaitQuiet();
    shop.paid("closed-then-paid", "p1");
    shop.paid("closed-then-paid", "p1");
    PublishedEvent conflict = outcomes.awaitConflicts("closed-then-paid", 1).get(0);
    scenario.awaitQuiet();

    assertThat(outcomes.conflicts("closed-then-paid")).hasSize(1);
    assertThat(conflict.text("paymentId")).isEqualTo("p1");
    assertThat(conflict.body().has("cancelledAt")).isFalse();
    assertThat(database.state("closed-then-paid")).isEqualTo("CLOSED");
  }

  private PublishedEvent cancelled(String orderId) {
    shop.created(orderId, Map.of("timeout", "PT0.2S"));
    return outcomes.awaitCancelled(orderId);
  }

  /**
   * Returns when an order created now, with a deadline after all of a tenth of a second, is out.
   */
  private void passSomeDeadline() {
    scenario.awaitQuiet();
    String orderId = "fence-" + UUID.randomUUID();
    shop.created(orderId, Map.of("timeout", "PT0.5S"));
    outcomes.awaitCancelled(orderId);
    scenario.awaitQuiet();
  }

  private static Instant now() {
    return Instant.now().truncatedTo(ChronoUnit.MICROS);
  }
}
