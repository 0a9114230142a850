package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The audit log, and the pauses, holds and outages that are over. */
class HistoryIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @Test
  void whatIsOverIsNotReadAgainForEachOrderAndPoll() {
    int rows = 5_000;
    int orders = 100;
    insertHistory(rows, "g.i * interval '1 min' + interval '20 days'");
    try (Service service =
        scenario.startService("order-timeout.expiry.after-outage", "extend-by-outage")) {
      service.awaitReady(true);
      long before = rowsRead();
      Instant deadline = Scenario.in(Duration.ofSeconds(1));
      for (int i = 0; i < orders; i++) {
        scenario.create("order-" + i, 0, deadline);
      }
      scenario.awaitAllDecided();

      // Postgres publishes its statistics with a delay.
      await("statistics")
          .until(
              () ->
                  scans("shard_outage") > 0
                      && scans("suspension") >= 4
                      && scans("operator_action") >= 4);
      assertThat(scans("shard_outage")).isLessThan(orders);
      // What was read once, at the start, may be published after the first look.
      assertThat(rowsRead() - before).isLessThan(2L * rows);
    }
  }

  @Test
  void whatIsOverIsPurgedAfterTheRetention() {
    insertHistory(1, "interval '300 days'");
    insertHistory(3, "interval '500 days' + g.i * interval '1 min'");
    database.execute(
        """
        insert into suspension (placed_by_kind, placed_by, reason, moves_deadlines, began_at, channel)
        select 'OPERATOR', 'test', 'in force', true, clock_timestamp() - interval '500 days', 'none'
        """);
    database.execute(
        """
        insert into suspension (shard, placed_by_kind, placed_by, reason, moves_deadlines, began_at)
        select 9, 'SERVICE', 'service', 'in force', false, clock_timestamp() - interval '500 days'
        """);
    try (Service service = scenario.startService("order-timeout.deadline.purge-interval", "1s")) {
      await("purges")
          .untilAsserted(
              () ->
                  assertThat(rowsByTable())
                      .containsExactly("hold 2", "operator_action 1", "pause 2", "shard_outage 1"));
      assertThat(service.gauge("order.timeout.failing")).isZero();
    }
  }

  @Test
  void reportsOfInstancesArePurgedAfterADayAndTheirActivityAfterTwo() {
    database.execute(
        """
        insert into instance_report (instance, reported_at, report)
        values
          ('purged', now() - interval '25 h', '{}'), ('kept', now() - interval '23 h', '{}')
        """);
    database.execute(
        """
        insert into activity
        select now() - age, instance, 1, 0, 0, 0, 0, '{}'
        from (values ('purged', interval '49 h'), ('kept', interval '47 h')) i (instance, age)
        """);
    try (Service service = scenario.startService("order-timeout.deadline.purge-interval", "1s")) {
      await("purges").until(() -> reportsOf("purged") == 0);
      assertThat(reportsOf("kept")).isEqualTo(2);
      assertThat(service.gauge("order.timeout.failing")).isZero();
    }
  }

  private long reportsOf(String instance) {
    return database.count(
        """
        select count(*) from (
          select instance from instance_report union all select instance from activity) i
        where instance = ?
        """,
        instance);
  }

  @Test
  void anInterruptionStaysWhileAnOrderMayBePendingThatLivedThroughIt() {
    database.execute(
        """
        insert into order_deadline (order_id, shard, state, created_at, deadline)
        select 'from before', 9, 'PENDING', now() - interval '501 days', now() - interval '450 days'
        """);
    insertHistory(1, "interval '500 days'");
    try (Service service = scenario.startService("order-timeout.deadline.purge-interval", "1s")) {
      await("the purge of the audit log")
          .until(() -> database.count("select count(*) from operator_action") == 0);
      assertThat(rowsByTable()).contains("pause 1", "shard_outage 1");

      database.execute("delete from order_deadline where order_id = 'from before'");
      await("the purge of the interruptions")
          .until(
              () ->
                  database.count("select count(*) from shard_outage") == 0
                      && database.count("select count(*) from suspension") == 0);
      assertThat(service.gauge("order.timeout.failing")).isZero();
    }
  }

  /**
   * Inserts rows of each kind that have been over for a while.
   *
   * @param age SQL expression of the age of the row {@code g.i}
   */
  private void insertHistory(int rows, String age) {
    for (String statement :
        List.of(
            """
            insert into operator_action (at, actor, action, subject, reason)
            select clock_timestamp() - (%s), 'test', 'CLOSE_ORDER', 'order-' || i, 'test'
            from generate_series(%d, 1, -1) as g(i)
            """,
            """
            insert into shard_outage (shard, began_at, ended_at)
            select 0, clock_timestamp() - (%1$s) - interval '10 s', clock_timestamp() - (%1$s)
            from generate_series(1, %2$d) as g(i)
            """,
            """
            insert into suspension (
              placed_by_kind, placed_by, reason, moves_deadlines, began_at, ends_at)
            select 'OPERATOR', 'test', 'test', true, clock_timestamp() - (%1$s) - interval '10 s',
              clock_timestamp() - (%1$s)
            from generate_series(1, %2$d) as g(i)
            """,
            """
            insert into suspension (
              shard, placed_by_kind, placed_by, reason, moves_deadlines, began_at, ended_at)
            select 0, 'SERVICE', 'service', 'test', false, clock_timestamp() - (%1$s),
              clock_timestamp() - (%1$s)
            from generate_series(1, %2$d) as g(i)
            """)) {
      database.execute(statement.formatted(age, rows));
    }
    database.execute("analyze operator_action, shard_outage, suspension");
  }

  private List<String> rowsByTable() {
    return database.query(
        """
        select t || ' ' || n from (
          select case when shard is null then 'pause' else 'hold' end as t, count(*) as n
          from suspension group by 1
          union all select 'operator_action', count(*) from operator_action
          union all select 'shard_outage', count(*) from shard_outage
        ) counts order by t
        """,
        (row, number) -> row.getString(1));
  }

  private long rowsRead() {
    return database.count(
        """
        select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_user_tables
        where relname in ('operator_action', 'shard_outage', 'suspension')
        """);
  }

  private long scans(String table) {
    return database.count(
        "select seq_scan + coalesce(idx_scan, 0) from pg_stat_user_tables where relname = ?",
        table);
  }
}
