package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A Postgres that answers, but refuses: read-only, full, out of time, or cutting connections. */
class PostgresErrorsIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();
  private Service service;

  @BeforeEach
  void start() {
    service =
        scenario.startService(
            "spring.datasource.hikari.data-source-properties.options",
            "-c statement_timeout=2s -c idle_in_transaction_session_timeout=10s");
    scenario.create("first", 0, Scenario.in(Duration.ofMillis(500)));
    scenario.outcomes().awaitCancelled("first");
  }

  @AfterEach
  void close() {
    service.close();
    scenario.close();
  }

  @Test
  void oneThatOnlyReadsIsWaitedFor() {
    Instant deadline = register();
    database.execute(
        "alter database " + scenario.name() + " set default_transaction_read_only = on");
    cutConnections();
    scenario.pay("paid", 0);
    service.awaitReady(false);
    scenario.awaitPast(deadline);
    assertThat(database.state("unpaid")).isEqualTo("PENDING");

    database.execute(
        "begin; set transaction read write; alter database "
            + scenario.name()
            + " set default_transaction_read_only = off; commit");
    cutConnections();

    assertDecided();
  }

  @Test
  void oneWhoseDiskIsFullIsWaitedFor() {
    Instant deadline = register();
    // What a full disk looks like from here.
    database.execute(
        """
        create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$
        """);
    database.execute(
        """
        create trigger refuse before insert or update on order_deadline
        for each statement execute function refuse()
        """);
    scenario.pay("paid", 0);
    service.awaitReady(false);
    scenario.awaitPast(deadline);
    assertThat(database.state("unpaid")).isEqualTo("PENDING");

    database.execute("drop trigger refuse on order_deadline");

    assertDecided();
  }

  @Test
  void statementsThatRunOutOfTimeAreTriedAgain() throws SQLException {
    Instant deadline = register();
    try (Connection other = connect();
        Statement lock = other.createStatement()) {
      other.setAutoCommit(false);
      lock.execute("lock table order_deadline in share mode");
      scenario.pay("paid", 0);
      service.awaitReady(false);
      scenario.awaitPast(deadline);
      assertThat(database.state("unpaid")).isEqualTo("PENDING");
      other.rollback();
    }

    assertDecided();
  }

  @Test
  void aDeadlockLostIsTriedAgain() throws SQLException {
    register();
    try (Connection other = connect();
        Statement update = other.createStatement()) {
      // So that it is the service that gives in.
      update.execute("set deadlock_timeout = '30s'");
      other.setAutoCommit(false);
      update.execute("update order_deadline set policy = 'x' where order_id = 'unpaid'");
      // One batch, written in the order of the ids: it waits for the second.
      scenario.shop().closed("paid");
      scenario.shop().closed("unpaid");
      await("the intake to wait")
          .atMost(PATIENCE)
          .until(
              () ->
                  database.count(
                          "select count(*) from pg_stat_activity where datname = current_database()"
                              + " and wait_event_type = 'Lock'")
                      > 0);
      update.execute("update order_deadline set policy = 'x' where order_id = 'paid'");
      other.commit();
    }
    scenario.awaitState("paid", "CLOSED");
    scenario.awaitState("unpaid", "CLOSED");
  }

  @Test
  void connectionsCutInTheMiddleOfTransactionsLoseNothing() {
    Instant deadline = Instant.MIN;
    int orders = 400;
    for (int i = 0; i < orders; i++) {
      deadline = Scenario.in(Duration.ofSeconds(5));
      scenario.create("order-" + i, i % Scenario.PARTITIONS, deadline);
      if (i % 2 == 0) {
        scenario.pay("order-" + i, i % Scenario.PARTITIONS);
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
    assertThat(database.countByState())
        .containsEntry("PAID", orders / 2L)
        .containsEntry("CANCELLED", orders / 2L + 1);
    assertThat(
            scenario.outcomes().cancelled().stream().map(event -> event.key()).distinct().count())
        .isEqualTo(orders / 2 + 1);
    assertThat(service.counter("order.timeout.repaired")).isZero();
  }

  private Instant register() {
    Instant deadline = Scenario.in(Duration.ofSeconds(8));
    scenario.create("paid", 0, deadline);
    scenario.create("unpaid", 0, deadline);
    scenario.awaitState("unpaid", "PENDING");
    return deadline;
  }

  private void assertDecided() {
    scenario.outcomes().awaitCancelled("unpaid");
    scenario.awaitState("paid", "PAID");
    scenario.awaitQuiet();
    assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
    assertThat(scenario.outcomes().cancelled("unpaid")).hasSize(1);
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

  private Connection connect() throws SQLException {
    return database.connect();
  }
}
