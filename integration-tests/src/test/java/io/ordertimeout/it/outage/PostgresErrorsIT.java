package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * A Postgres that answers with errors: read-only, full, too slow, in a deadlock, or cutting
 * connections. The tests share one service; each has order ids of its own.
 */
@Order(40)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgresErrorsIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();
  private final Service service =
      scenario.startService(
          "spring.datasource.hikari.data-source-properties.options",
          // Without joins that happen to sort, statements have to order the rows themselves.
          "-c statement_timeout=2s -c idle_in_transaction_session_timeout=10s"
              + " -c enable_mergejoin=off -c enable_hashjoin=off",
          "order-timeout.outbox.sweep-interval",
          "500ms");

  @BeforeEach
  void awaitReady() {
    service.awaitReady(true);
  }

  @Test
  void aReadOnlyPostgresIsRetried() throws SQLException {
    createPending("read-only");
    database.execute(
        "alter database " + scenario.name() + " set default_transaction_read_only = on");
    cutConnections();

    assertPendingAfterDeadline("read-only");

    database.execute(
        "begin; set transaction read write; alter database "
            + scenario.name()
            + " set default_transaction_read_only = off; commit");
    // Connections from before stay read-only; the service discards them when a write fails.
    assertDecided("read-only");
  }

  @Test
  @Tag("faults")
  void aFullDiskIsRetried() throws SQLException {
    createPending("full");
    // The error that Postgres reports when its disk is full.
    failWrites("raise exception 'could not extend file' using errcode = '53100'");

    assertPendingAfterDeadline("full");

    database.execute("drop function fail_write cascade");
    assertDecided("full");
  }

  @Test
  @Tag("faults")
  void statementsThatTimeOutAreRetried() throws SQLException {
    createPending("slow");
    failWrites("perform pg_sleep(30)");

    assertPendingAfterDeadline("slow");

    database.execute("drop function fail_write cascade");
    assertDecided("slow");
  }

  @Test
  @Tag("faults")
  void aBatchThatLosesADeadlockIsRetried() throws SQLException {
    createPending("deadlock");
    try (Connection other = database.connect();
        Statement update = other.createStatement()) {
      // So that Postgres aborts the service's transaction.
      update.execute("set deadlock_timeout = '30s'");
      other.setAutoCommit(false);
      update.execute("update order_deadline set policy = 'x' where order_id = 'deadlock-unpaid'");
      // One batch, written in the order of the ids: it waits for the second order.
      scenario.shop().closed("deadlock-paid");
      scenario.shop().closed("deadlock-unpaid");
      await("the intake to wait for a lock")
          .until(
              () ->
                  database.count(
                          "select count(*) from pg_stat_activity where datname = current_database()"
                              + " and wait_event_type = 'Lock'")
                      > 0);
      update.execute("update order_deadline set policy = 'x' where order_id = 'deadlock-paid'");
      other.commit();
    }
    scenario.awaitState("deadlock-paid", "CLOSED");
    scenario.awaitState("deadlock-unpaid", "CLOSED");
  }

  @Test
  @Tag("faults")
  void aPublicationIsRecordedWhileABatchOfEventsHoldsItsOrder() throws SQLException {
    Instant deadline = Scenario.in(Duration.ZERO);
    try (Connection other = database.connect();
        Statement update = other.createStatement()) {
      other.setAutoCommit(false);
      database.decideWithoutPublishing("held", 0, deadline.minus(Duration.ofMinutes(15)), deadline);
      update.execute("update order_deadline set policy = 'x' where order_id = 'held'");

      scenario.outcomes().awaitCancelled("held");
      await("the outbox").until(() -> database.unpublished() == 0);

      other.commit();
    }
  }

  @Test
  @Tag("faults")
  void connectionsCutWithinTransactionsLoseNothing() {
    Instant deadline = Instant.MIN;
    int orders = 400;
    for (int i = 0; i < orders; i++) {
      if (i % 2 == 0) {
        // However long that takes, the payment is in time.
        scenario.create("cut-" + i, i % Scenario.PARTITIONS, Scenario.in(Duration.ofHours(1)));
        scenario.pay("cut-" + i, i % Scenario.PARTITIONS);
      } else {
        deadline = Scenario.in(Duration.ofSeconds(5));
        scenario.create("cut-" + i, i % Scenario.PARTITIONS, deadline);
      }
      if (i % 20 == 0) {
        cutConnections();
      }
    }
    scenario.awaitPast(deadline);
    for (int i = 0; i < 10; i++) {
      cutConnections();
    }
    scenario.awaitAllDecided();
    assertThat(database.count("select count(*) from order_deadline where order_id like 'cut-%'"))
        .isEqualTo(orders);
    assertThat(countCut("PAID")).isEqualTo(orders / 2);
    assertThat(countCut("CANCELLED")).isEqualTo(orders / 2);
    assertThat(
            scenario.outcomes().cancelled().stream()
                .map(PublishedEvent::key)
                .filter(orderId -> orderId.startsWith("cut-"))
                .collect(Collectors.toSet()))
        .hasSize(orders / 2);
    assertThat(service.counter("order.timeout.repaired")).isZero();
  }

  private long countCut(String state) {
    return database.count(
        "select count(*) from order_deadline where order_id like 'cut-%' and state = ?", state);
  }

  private void createPending(String prefix) {
    Instant deadline = Scenario.in(Duration.ofHours(1));
    scenario.create(prefix + "-paid", 0, deadline);
    scenario.create(prefix + "-unpaid", 0, deadline);
    scenario.awaitState(prefix + "-unpaid", "PENDING");
  }

  /** Runs a statement before each write to the order table. */
  private void failWrites(String statement) {
    database.execute(
        "create function fail_write() returns trigger language plpgsql as $$ begin "
            + statement
            + "; return null; end $$");
    database.execute(
        """
        create trigger fail_write before insert or update on order_deadline
        for each statement execute function fail_write()
        """);
  }

  /** Pays one of the orders and lets both deadlines pass, neither of which can be stored. */
  private void assertPendingAfterDeadline(String prefix) throws SQLException {
    scenario.pay(prefix + "-paid", 0);
    try (Connection unaffected = database.connect();
        Statement statement = unaffected.createStatement()) {
      statement.execute("set default_transaction_read_only = off");
      // Without triggers.
      statement.execute("set session_replication_role = replica");
      statement.execute(
          """
          with moved as (
            update order_deadline set deadline = clock_timestamp()
            where order_id in ('%1$s-paid', '%1$s-unpaid') and state = 'PENDING'
            returning order_id
          )
          insert into operator_action (actor, action, subject, reason)
          select 'test', 'CANCEL_ORDER', order_id, 'the deadline passes now' from moved
          """
              .formatted(prefix));
    }
    service.awaitReady(false);
    await("the intake to fail")
        .until(() -> service.gauge("order.timeout.failing", "step", "intake-0") > 0);
    assertThat(database.state(prefix + "-unpaid")).isEqualTo("PENDING");
    assertThat(database.state(prefix + "-paid")).isEqualTo("PENDING");
  }

  private void assertDecided(String prefix) {
    scenario.outcomes().awaitCancelled(prefix + "-unpaid");
    scenario.awaitState(prefix + "-paid", "PAID");
    scenario.awaitQuiet();
    assertThat(scenario.outcomes().cancelled(prefix + "-paid")).isEmpty();
    assertThat(scenario.outcomes().cancelled(prefix + "-unpaid")).hasSize(1);
    service.awaitReady(true);
    assertThat(service.counter("order.timeout.repaired")).isZero();
  }

  private void cutConnections() {
    database.count(
        """
        select count(pg_terminate_backend(pid)) from pg_stat_activity
        where datname = current_database() and application_name = 'order-timeout'
        """);
  }
}
