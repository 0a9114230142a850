package io.ordertimeout.it.race;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.SuspensionRows;
import io.ordertimeout.it.traffic.Deadlines;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A pause that is placed while Postgres executes a decision that began before it. */
@Tag("faults")
class PauseAgainstExpiryIT {

  /** Postgres keeps the plan of a statement that it has executed a few times. */
  private static final int DECISIONS_WITH_THE_SAME_PLAN = 12;

  /** How many cancellations the circuit breaker does not let pass. */
  private static final int TOO_MANY = 30;

  private static final String RUNNING =
      "select count(*) from pg_stat_activity"
          + " where datname = current_database() and wait_event = 'advisory'";

  private static final String WAITING_FOR_THE_PAUSES =
      "select count(*) from pg_locks where relation = 'suspension'::regclass and not granted";

  @AutoClose private Scenario scenario;
  private Database database;
  private Service service;

  @BeforeEach
  void start() {
    scenario = Scenario.create();
    database = scenario.database();
    database.execute(
        """
        create function hold_up() returns trigger language plpgsql as $$
        begin
          perform pg_advisory_xact_lock_shared(0);
          return new;
        end $$
        """);
    database.execute(
        "create trigger hold_up before insert on outbox for each row execute function hold_up()");
    service =
        scenario.startService(
            "order-timeout.breaker.enabled", "true",
            "order-timeout.breaker.max-ratio", "0.5",
            "order-timeout.breaker.min-cancellations", String.valueOf(TOO_MANY));
    for (int i = 0; i < DECISIONS_WITH_THE_SAME_PLAN; i++) {
      scenario.create("before-" + i, i % Scenario.PARTITIONS, Scenario.in(Duration.ZERO));
      scenario.outcomes().awaitCancelled("before-" + i);
    }
  }

  @Test
  void aDecisionThatIsRunningEndsBeforeTheRequestReturns() throws SQLException {
    CompletableFuture<String> pause;
    try (Connection other = database.connect()) {
      holdUpADecision(other, "running");

      pause = CompletableFuture.supplyAsync(() -> service.pause(Map.of("moveDeadlines", false)));
      await("the pause to be placed, or to wait")
          .until(() -> pause.isDone() || database.count(WAITING_FOR_THE_PAUSES) > 0);

      assertThat(pause).isNotDone();
      assertThat(database.state("running")).isEqualTo("PENDING");
    }
    String id = pause.join();
    assertThat(database.state("running")).isEqualTo("CANCELLED");

    scenario.create("later", 0, Scenario.in(Duration.ZERO));
    await("the order to be suspended").until(() -> service.gauge("order.timeout.suspended") == 1);
    assertThat(database.state("later")).isEqualTo("PENDING");
    service.endPause(id);
    scenario.outcomes().awaitCancelled("later");
  }

  @Test
  void aPauseThatWouldHaveToWaitForLongIsNotPlaced() throws SQLException {
    try (Connection other = database.connect()) {
      holdUpADecision(other, "running");

      Answer refused =
          service
              .http()
              .operator()
              .postOnce("/api/v1/pauses", Map.of("moveDeadlines", false, "reason", "in doubt"));

      assertThat(refused.status()).as(refused.response().body()).isEqualTo(503);
      assertThat(refused.json().path("detail").asString()).contains("decision", "not placed");
      assertThat(database.count(SuspensionRows.PAUSES)).isZero();
      assertThat(database.count("select count(*) from operator_action")).isZero();
    }
    scenario.outcomes().awaitCancelled("running");
    service.endPause(service.pause(Map.of("moveDeadlines", false)));
  }

  /** Orders whose decision failed because of that count once. */
  @Test
  void theCircuitBreakerTriesAgainToPlaceItsPause() throws SQLException {
    try (Connection other = database.connect()) {
      holdUpADecision(other, "running");
      create("held back", TOO_MANY);
      await("the pause to be refused")
          .until(() -> service.gauge("order.timeout.failing", "step", "expiry") > 0);
    }
    await("the pause")
        .until(() -> service.gauge("order.timeout.expiry.paused", "by", "breaker") == 1);
    service.endPause(database.text("select id::text from suspension"));
    await("all to be cancelled").until(() -> database.pending() == 0);

    create("few", TOO_MANY - 5);
    await("all to be cancelled").until(() -> database.pending() == 0);
    assertThat(database.count(SuspensionRows.PAUSES)).isEqualTo(1);
  }

  private void create(String prefix, int count) {
    Instant deadline = Deadlines.afterCreation(scenario);
    for (int i = 0; i < count; i++) {
      scenario.create(prefix + "-" + i, i % Scenario.PARTITIONS, deadline);
    }
  }

  /** Returns while the decision of a new order waits for the connection to be closed. */
  private void holdUpADecision(Connection other, String orderId) throws SQLException {
    try (Statement statement = other.createStatement()) {
      statement.execute("select pg_advisory_lock(0)");
    }
    scenario.create(orderId, 0, Scenario.in(Duration.ZERO));
    await("the decision of " + orderId).until(() -> database.count(RUNNING) == 1);
  }
}
