package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What shops ask for: a reminder before the end, for those who have not paid. */
class WarningIT {

  private static final Duration FIRST = Duration.ofSeconds(6);
  private static final Duration SECOND = Duration.ofSeconds(3);

  private static final String[] TWO_WARNINGS = {
    "order-timeout.deadline.policies[0].name", "all",
    "order-timeout.deadline.policies[0].timeout", "1h",
    "order-timeout.deadline.policies[0].warnings[0]", "6s",
    "order-timeout.deadline.policies[0].warnings[1]", "3s",
    "order-timeout.outbox.sweep-interval", "1s",
    "order-timeout.reconciler.interval", "1s",
    "order-timeout.reconciler.confirm-after", "1s"
  };

  @AutoClose private final Scenario scenario = Scenario.withAllTopics();

  @Test
  void anUnpaidOrderIsWarnedTwiceAndThenCancelled() {
    Service service = scenario.startService(TWO_WARNINGS);
    service.awaitReady(true);
    Instant deadline = create("unpaid", FIRST.plusSeconds(2));

    PublishedEvent cancelled = scenario.outcomes().awaitCancelled("unpaid");
    List<PublishedEvent> warnings = scenario.outcomes().awaitWarnings("unpaid", 2);

    assertThat(warnings)
        .extracting(event -> event.body().path("warning").intValue())
        .containsExactly(1, 2);
    assertThat(warnings)
        .extracting(event -> event.text("leadTime"))
        .containsExactly("PT6S", "PT3S");
    assertThat(warnings).extracting(event -> event.text("eventId")).doesNotHaveDuplicates();
    assertThat(warnings)
        .allSatisfy(event -> assertThat(event.instant("deadline")).isEqualTo(deadline));
    assertThat(warnings.get(0).appendedAt()).isBetween(deadline.minus(FIRST), deadline);
    assertThat(warnings.get(1).appendedAt()).isBetween(deadline.minus(SECOND), deadline);
    assertThat(cancelled.instant("cancelledAt")).isAfterOrEqualTo(deadline);
    assertThat(history(service, "unpaid"))
        .containsSubsequence("CREATED", "REGISTERED", "WARNED", "WARNED", "CANCELLED");
    assertThat(service.counter("order.timeout.repaired")).isZero();
    assertThat(service.timers("order.timeout.warning.lateness")).isEqualTo(2);
  }

  @Test
  void nobodyWhoHasPaidIsWarned() {
    Service service = scenario.startService(TWO_WARNINGS);
    service.awaitReady(true);
    Instant deadline = create("paid after the first", FIRST.plusSeconds(2));
    create("paid", FIRST.plusSeconds(2));
    scenario.pay("paid", 0);
    scenario.outcomes().awaitWarnings("paid after the first", 1);
    scenario.pay("paid after the first", 0);
    scenario.awaitPast(deadline.plusSeconds(1));
    scenario.passDeadline("behind", 0);

    assertThat(scenario.outcomes().warnings("paid")).isEmpty();
    assertThat(scenario.outcomes().warnings("paid after the first")).hasSize(1);
    assertThat(scenario.database().states()).doesNotContainValue("PENDING");
  }

  @Test
  void ofWarningsThatWereMissedTheLastIsSentAndNoneAfterTheDeadline() {
    try (Service before = scenario.startService(TWO_WARNINGS)) {
      before.awaitReady(true);
      create("late", Duration.ofHours(1));
      create("too late", Duration.ofHours(1));
      scenario.awaitQuiet();
    }
    // As if the service had not run when the times of both warnings came.
    scenario
        .database()
        .execute(
            """
            update order_deadline set leads = '{7200,3600}', deadline = now()
              + case when order_id = 'late' then interval '20 s' else interval '0 s' end
            """);
    Service after = scenario.startService(TWO_WARNINGS);
    after.awaitReady(true);
    scenario.outcomes().awaitCancelled("late");
    scenario.outcomes().awaitCancelled("too late");

    assertThat(scenario.outcomes().warnings("late"))
        .singleElement()
        .satisfies(event -> assertThat(event.text("leadTime")).isEqualTo("PT1H"));
    assertThat(scenario.outcomes().warnings("too late")).isEmpty();
    await("the publications to be recorded").until(() -> scenario.database().unpublished() == 0);
  }

  @Test
  void anOrderThatIsReadLateHasTheWarningsThatAreAhead() {
    Service service = scenario.startService(TWO_WARNINGS);
    service.awaitReady(true);
    create("short", SECOND.plusSeconds(2));

    scenario.outcomes().awaitCancelled("short");
    assertThat(scenario.outcomes().warnings("short"))
        .singleElement()
        .satisfies(event -> assertThat(event.body().path("warning").intValue()).isEqualTo(2));
  }

  @Test
  void aDeadlineThatAnOperatorMovesTakesItsWarningsWithIt() {
    Service service = scenario.startService(TWO_WARNINGS);
    service.awaitReady(true);
    create("extended", FIRST.plusSeconds(1));
    scenario.outcomes().awaitWarnings("extended", 1);
    Instant later = Scenario.in(SECOND.plusSeconds(4));
    service
        .http()
        .operator()
        .post(
            "/api/v1/order/extend",
            Map.of("orderId", "extended", "deadline", later.toString(), "reason", "asked for"))
        .assertOk();

    scenario.outcomes().awaitCancelled("extended");
    List<PublishedEvent> warnings = scenario.outcomes().warnings("extended");
    assertThat(warnings).hasSize(2);
    assertThat(warnings.get(1).instant("deadline")).isEqualTo(later);
    assertThat(warnings.get(1).appendedAt()).isAfterOrEqualTo(later.minus(SECOND));
  }

  @Test
  void anOrderThatAnOperatorCancelsIsNotWarnedAgainAndKeepsItsHistory() {
    Service service = scenario.startService(TWO_WARNINGS);
    service.awaitReady(true);
    create("cancelled by hand", FIRST.plusSeconds(1));
    scenario.outcomes().awaitWarnings("cancelled by hand", 1);
    service.makeDue("cancelled by hand");

    PublishedEvent cancelled = scenario.outcomes().awaitCancelled("cancelled by hand");
    scenario.awaitPast(Scenario.in(SECOND));
    assertThat(scenario.outcomes().warnings("cancelled by hand"))
        .allSatisfy(
            warning -> assertThat(warning.appendedAt()).isBeforeOrEqualTo(cancelled.appendedAt()));
    assertThat(known(service, "cancelled by hand").path("history").toString()).contains("PT6S");
  }

  @Test
  void aPausedOrderIsNotWarned() {
    Service service = scenario.startService(TWO_WARNINGS);
    service.awaitReady(true);
    String pause = service.pause(Map.of("reason", "the provider is down", "moveDeadlines", false));
    Instant deadline = create("paused", FIRST.plusSeconds(1));
    scenario.awaitPast(deadline);
    service.endPause(pause);

    scenario.outcomes().awaitCancelled("paused");
    assertThat(scenario.outcomes().warnings("paused")).isEmpty();
  }

  /** As a crash between its transaction and its publication leaves it. */
  @Test
  void aWarningThatACrashLeftUnpublishedIsPublishedUnlessItIsOver() {
    scenario
        .database()
        .execute(
            """
            with o as (
              insert into order_deadline (
                order_id, shard, state, created_at, deadline, leads, warned, decided_at, decided_by)
              values
                ('left', 0, 'PENDING', now(), now() + interval '1 h', '{7200,60}', 1, null, null),
                ('left and paid', 0, 'PAID', now(), now() + interval '1 h', '{7200}', 1, now(), 'PAYMENT'),
                ('left and due', 0, 'PENDING', now(), now() - interval '1 s', '{7200}', 1, null, null)
              returning id, shard
            )
            insert into outbox (order_row, payment_id, shard, written_at)
            select id, E'\\x01' || 1, shard, now() - interval '10 s' from o
            """);
    Service service = scenario.startService(TWO_WARNINGS);
    service.awaitReady(true);

    assertThat(scenario.outcomes().awaitWarnings("left", 1))
        .singleElement()
        .satisfies(event -> assertThat(event.text("leadTime")).isEqualTo("PT2H"));
    scenario.outcomes().awaitCancelled("left and due");
    await("the others to be deleted").until(() -> scenario.database().unpublished() == 0);
    assertThat(scenario.outcomes().warnings("left and paid")).isEmpty();
    assertThat(scenario.outcomes().warnings("left and due")).isEmpty();
    assertThat(scenario.database().count("select count(*) from outbox where payment_id <> ''"))
        .isEqualTo(1);
  }

  private Instant create(String orderId, Duration timeToPay) {
    Instant deadline = Scenario.in(timeToPay);
    scenario.create(orderId, 0, deadline);
    return deadline;
  }

  private static List<String> history(Service service, String orderId) {
    return known(service, orderId).path("history").values().stream()
        .map(entry -> entry.path("what").asString())
        .toList();
  }

  private static JsonNode known(Service service, String orderId) {
    return service.http().viewer().get("/api/v1/order", "id", orderId).assertOk().json();
  }
}
