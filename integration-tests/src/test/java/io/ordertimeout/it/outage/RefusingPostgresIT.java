package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.rig.Database;
import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A Postgres that answers, but refuses: read-only, full, out of time, or cutting connections. */
class RefusingPostgresIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Stage stage = Stage.create();
  private final Database database = stage.database();
  private Service service;

  @BeforeEach
  void start() {
    service =
        stage.startService(
            "spring.datasource.hikari.data-source-properties.options",
            "-c statement_timeout=2s -c idle_in_transaction_session_timeout=10s");
    stage.create("first", 0, Stage.in(Duration.ofMillis(500)));
    stage.outcomes().awaitCancelled("first");
  }

  @AfterEach
  void close() {
    service.close();
    stage.close();
  }

  @Test
  void oneThatOnlyReadsIsWaitedFor() {
    Instant deadline = register();
    database.execute("alter database " + stage.name() + " set default_transaction_read_only = on");
    cutConnections();
    stage.pay("paid", 0);
    service.awaitReady(false);
    stage.awaitPast(deadline);
    assertThat(database.state("unpaid")).isEqualTo("PENDING");

    database.execute(
        "begin; set transaction read write; alter database "
            + stage.name()
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
    stage.pay("paid", 0);
    service.awaitReady(false);
    stage.awaitPast(deadline);
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
      stage.pay("paid", 0);
      service.awaitReady(false);
      stage.awaitPast(deadline);
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
      stage.shop().closed("paid");
      stage.shop().closed("unpaid");
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
    stage.awaitState("paid", "CLOSED");
    stage.awaitState("unpaid", "CLOSED");
  }

  @Test
  void connectionsCutInTheMiddleOfTransactionsLoseNothing() {
    Instant deadline = Instant.MIN;
    int orders = 400;
    for (int i = 0; i < orders; i++) {
      deadline = Stage.in(Duration.ofSeconds(5));
      stage.create("order-" + i, i % Stage.PARTITIONS, deadline);
      if (i % 2 == 0) {
        stage.pay("order-" + i, i % Stage.PARTITIONS);
      }
      if (i % 20 == 0) {
        cutConnections();
      }
    }
    stage.awaitPast(deadline);
    for (int i = 0; i < 10; i++) {
      cutConnections();
    }
    stage.awaitAllDecided();
    assertThat(database.countByState())
        .containsEntry("PAID", orders / 2L)
        .containsEntry("CANCELLED", orders / 2L + 1);
    assertThat(stage.outcomes().cancelled().stream().map(event -> event.key()).distinct().count())
        .isEqualTo(orders / 2 + 1);
    assertThat(service.counter("order.timeout.repaired")).isZero();
  }

  private Instant register() {
    Instant deadline = Stage.in(Duration.ofSeconds(8));
    stage.create("paid", 0, deadline);
    stage.create("unpaid", 0, deadline);
    stage.awaitState("unpaid", "PENDING");
    return deadline;
  }

  private void assertDecided() {
    stage.outcomes().awaitCancelled("unpaid");
    stage.awaitState("paid", "PAID");
    stage.awaitQuiet();
    assertThat(stage.outcomes().cancelled("paid")).isEmpty();
    assertThat(stage.outcomes().cancelled("unpaid")).hasSize(1);
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
