package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.SuspensionRows;
import io.ordertimeout.orders.suspension.NewPause;
import io.ordertimeout.orders.suspension.Suspension.PlacedBy;
import io.ordertimeout.orders.suspension.Suspensions;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/**
 * A pause suspends expiry, for all orders or for one channel, until an operator or time ends it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PauseIT {

  private static final NewPause BREAKER =
      new NewPause(null, PlacedBy.BREAKER, "circuit breaker", "too many", false, null);

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service =
      scenario.startService(
          "order-timeout.reconciler.interval", "1s",
          "order-timeout.reconciler.confirm-after", "1s");

  @AfterEach
  void noPauseIsLeft() {
    await("the end of all pauses").until(() -> service.gauge("order.timeout.expiry.paused") == 0);
    assertThat(service.counter("order.timeout.repaired")).isZero();
  }

  @Test
  void aPauseOfAChannelHoldsItsOrdersAlone() {
    long delayedBefore = late("true");
    long inTimeBefore = late("false");
    String pause = service.pause(Map.of("channel", "web", "moveDeadlines", false));
    Instant deadline = Scenario.in(Duration.ofMillis(500));
    create("web", "web", deadline);
    create("store", "store", deadline);
    scenario.create("no channel", 0, deadline);

    scenario.outcomes().awaitCancelled("store");
    scenario.outcomes().awaitCancelled("no channel");
    assertThat(scenario.database().state("web")).isEqualTo("PENDING");
    JsonNode blocker =
        service.http().viewer().get("/api/v1/order", "id", "web").json().at("/waitsFor/0");
    assertThat(blocker.at("/type").asString()).isEqualTo("paused");
    assertThat(blocker.at("/pauseId").asLong()).isEqualTo(Long.parseLong(pause));
    assertThat(blocker.at("/channel").asString()).isEqualTo("web");

    await("their lateness").until(() -> late("false") == inTimeBefore + 2);
    assertThat(late("true")).isEqualTo(delayedBefore);
    service.endPause(pause);
    scenario.outcomes().awaitCancelled("web");
    await("its lateness").until(() -> late("true") == delayedBefore + 1);
    assertThat(late("false")).isEqualTo(inTimeBefore + 2);
  }

  /** The cancellations whose lateness was measured, of orders that a pause has delayed or not. */
  private long late(String paused) {
    return service.timers("order.timeout.lateness", "paused", paused);
  }

  @Test
  void aPauseHidesOnlyTheOrdersThatItHoldsFromTheNumberOfOverdueOrders() {
    // Orders of a shard without an owner, which no instance decides. The held ones are more than
    // are counted, and older than the others.
    String unrelated = service.pause(Map.of("channel", "of no order", "moveDeadlines", false));
    String pause = service.pause(Map.of("channel", "held", "moveDeadlines", false));
    SuspensionRows.hold(scenario.database(), 8, "lost");
    plant(7, "held", 6_000, "held", Duration.ofHours(2));
    plant(7, "stuck", 5, "web", Duration.ofHours(1));
    plant(8, "of a held shard", 2, "web", Duration.ofHours(1));

    await("the number of overdue orders").until(() -> service.gauge("order.timeout.overdue") == 5);
    assertThat(service.gauge("order.timeout.suspended")).isEqualTo(2_000 + 1_995 + 2);

    scenario.database().execute("delete from order_deadline where shard >= 7");
    SuspensionRows.liftHolds(scenario.database());
    service.endPause(pause);
    service.endPause(unrelated);
  }

  private void plant(int shard, String prefix, int orders, String channel, Duration overdue) {
    scenario
        .database()
        .execute(
            """
            insert into order_deadline (order_id, shard, state, created_at, deadline, channel)
            select ? || '-' || i, ?, 'PENDING', clock_timestamp() - make_interval(hours => 3),
              clock_timestamp() - make_interval(secs => ?), ?
            from generate_series(1, ?) as g(i)
            """,
            prefix,
            shard,
            (double) overdue.toSeconds(),
            channel,
            orders);
  }

  @Test
  void deadlinesMoveByThePartOfThePauseInWhichTheirOrdersExisted() {
    // The order was created before the pause, but is read during it, however slow the machine is.
    Instant createdAt = Scenario.in(Duration.ZERO);
    String pause = service.pause(Map.of("moveDeadlines", true));
    Instant deadline = Scenario.in(Duration.ofSeconds(1));
    scenario
        .shop()
        .created(
            "existed throughout",
            Map.of("createdAt", createdAt.toString(), "payBy", deadline.toString()));
    scenario.awaitState("existed throughout", "PENDING");
    scenario.awaitPast(deadline);
    service.endPause(pause);

    PublishedEvent event = scenario.outcomes().awaitCancelled("existed throughout");
    Duration moved = Duration.between(deadline, event.instant("deadline"));
    assertThat(moved)
        .isEqualTo(Duration.between(instant("began_at", pause), instant("ended_at", pause)));
    assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(event.instant("deadline"));
  }

  @Test
  void aPauseEndsAtItsStatedTime() {
    Instant end = Scenario.in(Duration.ofSeconds(3));
    service.pause(Map.of("moveDeadlines", false, "endsAt", end.toString()));
    scenario.create("held for a while", 0, Scenario.in(Duration.ZERO));

    assertThat(scenario.outcomes().awaitCancelled("held for a while").instant("cancelledAt"))
        .isAfterOrEqualTo(end);
  }

  @Test
  void aRepeatedRequestIsTheSamePauseAndInvalidRequestsAreRefused() {
    long audited = audited();
    String pause = service.pause(Map.of("moveDeadlines", false));
    assertThat(service.pause(Map.of("moveDeadlines", false))).isEqualTo(pause);
    String moving = service.pause(Map.of("moveDeadlines", true));
    assertThat(moving).isNotEqualTo(pause);

    Http operator = service.http().operator();
    assertThat(
            operator
                .post(
                    "/api/v1/pauses",
                    Map.of("moveDeadlines", true, "reason", "x", "endsAt", "2020-01-01T00:00:00Z"))
                .status())
        .isEqualTo(409);
    assertThat(operator.post("/api/v1/pauses", Map.of("moveDeadlines", true)).status())
        .isEqualTo(400);
    assertThat(operator.post("/api/v1/pauses", Map.of("reason", "x")).status()).isEqualTo(400);
    assertThat(operator.post("/api/v1/pauses/77777/end", Map.of("reason", "x")).status())
        .isEqualTo(404);
    service.endPause(pause);
    service.endPause(pause);
    assertThat(audited()).isEqualTo(audited + 3);
    service.endPause(moving);
  }

  /**
   * The instance reads its pauses twice a second, if it knows of a change, and looks for changes of
   * others once a second. Several times, because a pause may be seen to end.
   */
  @Test
  void aPauseOfItsOwnThatIsEndedWithinASecondIsForgotten() {
    Suspensions suspensions = service.bean(Suspensions.class);
    for (int round = 0; round < 6; round++) {
      long pause = suspensions.place(BREAKER).orElseThrow().id();
      suspensions.refresh();
      long placed = System.nanoTime();
      await().until(() -> System.nanoTime() - placed > Duration.ofMillis(600).toNanos());
      assertThat(suspensions.end(pause, "operator")).isTrue();
      await("no pause in memory")
          .atMost(Duration.ofSeconds(20))
          .until(() -> service.gauge("order.timeout.expiry.paused") == 0);
    }
  }

  private long audited() {
    return scenario.database().count("select count(*) from operator_action");
  }

  private void create(String orderId, String channel, Instant deadline) {
    scenario.shop().created(orderId, Map.of("payBy", deadline.toString(), "channel", channel));
  }

  private Instant instant(String column, String pause) {
    return Objects.requireNonNull(
        scenario
            .database()
            .query(
                "select " + column + " from suspension where id = " + pause,
                (rs, row) -> rs.getTimestamp(1).toInstant())
            .get(0));
  }
}
