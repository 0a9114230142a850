package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Orders are purged once neither their decision nor their deadline matters any more. An event of a
 * purged order that is delivered again never makes it pending.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RetentionIT {

  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration DAY = Duration.ofDays(1);

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();
  private final Service service =
      scenario.startService(
          "order-timeout.deadline.retention", "1h",
          "order-timeout.deadline.stale-after", "24h",
          "order-timeout.deadline.max-timeout", "30d",
          "order-timeout.deadline.purge-interval", "1s",
          "order-timeout.outbox.sweep-interval", "1s");

  @Test
  void ordersDecidedLongAgoArePurgedWithTheirConflictsAndPendingOnesAreNot() {
    scenario.createPending("pending", 0);
    settle("recent", "PAID", ago(DAY.minus(HOUR)), ago(DAY.minus(HOUR)));
    settle("old", "PAID", ago(DAY.plus(HOUR)), ago(DAY.plus(HOUR)));
    for (String parked : new String[] {"pending", "old"}) {
      database.execute("insert into parked_order values (?, 0, 'refused')", parked);
    }

    awaitPurged("old");

    assertThat(conflicts("old")).isZero();
    assertThat(database.state("pending")).isEqualTo("PENDING");
    assertThat(database.state("recent")).isEqualTo("PAID");
    assertThat(conflicts("recent")).isEqualTo(1);
    assertThat(database.count("select count(*) from parked_order where order_id = 'pending'"))
        .isEqualTo(1);
    assertThat(database.count("select count(*) from parked_order where order_id = 'old'")).isZero();
    assertThat(eventsWithoutOrder()).isZero();
    assertThat(cancellations("recent")).isEqualTo(1);
    assertThat(service.gauge("order.timeout.outbox.unpublished")).isZero();
  }

  @Test
  void anOrderIsKeptUntilItsConflictHasEndedButNoLongerThanTheAuditLog() {
    database.execute(
        """
        with cancelled as (
          insert into order_deadline (
            order_id, shard, state, created_at, deadline, decided_at, decided_by)
          select 'open-' || days, 0, 'CANCELLED', t - interval '1 h', t, t, 'EXPIRY'
          from unnest(array[399, 401]) days
          cross join lateral (select clock_timestamp() - make_interval(days => days) as t) s
          returning id, shard, decided_at
        )
        insert into outbox (order_row, payment_id, shard, written_at, published_at)
        select id, 'p', shard, decided_at, decided_at from cancelled
        """);
    awaitPurged("open-401");
    awaitAPurge("after-open");
    assertThat(database.state("open-399")).isEqualTo("CANCELLED");

    service
        .http()
        .operator()
        .post(
            "/api/v1/conflicts/resolve",
            Map.of(
                "orderId", "open-399",
                "paymentId", "p",
                "resolution", "IGNORED",
                "reason", "long ago"))
        .assertOk();
    awaitPurged("open-399");
  }

  @Test
  void anOrderSettledEarlyIsKeptUntilItsDeadlineNoLongerMatters() {
    Instant deadline = ago(Duration.ofDays(-20));
    settle("long", "CLOSED", ago(Duration.ofDays(10)), deadline);
    awaitAPurge("after-long");

    scenario.create("long", 0, deadline, ago(Duration.ofDays(10)));
    scenario.shop().paid("long", "p");
    scenario.awaitQuiet();

    assertThat(database.state("long")).isEqualTo("CLOSED");
    assertThat(scenario.outcomes().conflicts("long")).isEmpty();
  }

  @Test
  void anOrderIsKeptUntilItsCreationIsStale() {
    Instant deadline = ago(Duration.ofHours(3));
    settle("short", "CANCELLED", deadline, deadline);
    awaitAPurge("after-short");

    scenario.create("short", 0, deadline);
    scenario.passDeadline("behind-short", 0);
    scenario.awaitQuiet();

    assertThat(database.state("short")).isEqualTo("CANCELLED");
    assertThat(scenario.outcomes().cancelled("short")).isEmpty();
  }

  @Test
  void aPaymentOfAnUnknownOrderIsKeptAsLongAsItsCreationMayBringADeadline() {
    database.execute(
        """
        insert into order_deadline (order_id, shard, state, decided_at, decided_by)
        select 'ahead-' || days, 0, 'PAID', clock_timestamp() - make_interval(days => days), 'PAYMENT'
        from unnest(array[29, 33]) days
        """);
    database.execute(
        "insert into parked_order select order_id, 0, 'undecodable', decided_at from order_deadline"
            + " where order_id like 'ahead-%'");
    awaitPurged("ahead-33");

    scenario.create("ahead-29", 0, ago(HOUR.negated()), ago(Duration.ofDays(29)));
    scenario.awaitQuiet();

    assertThat(database.state("ahead-29")).isEqualTo("PAID");
  }

  @Test
  void anOrderThatAPolicyExemptsIsKeptForTheRetention() {
    database.execute(
        """
        insert into order_deadline (order_id, shard, state, created_at, decided_at, policy)
        select 'exempt-' || hours, 0, 'CLOSED', t, t, 'invoice'
        from unnest(array[23, 25]) hours
        cross join lateral (select clock_timestamp() - make_interval(hours => hours) as t) s
        """);
    awaitPurged("exempt-25");
    awaitAPurge("after-exempt");

    assertThat(database.state("exempt-23")).isEqualTo("CLOSED");
  }

  @Test
  void anOrderThatAnOperatorCancelledIsKeptUntilItsOwnDeadlineNoLongerMatters() {
    Instant deadline = Scenario.in(HOUR);
    scenario.createPending("cancelled early", 0);
    service.makeDue("cancelled early");
    scenario.outcomes().awaitCancelled("cancelled early");
    scenario.awaitQuiet();
    // As if it had been cancelled ten days ago.
    database.execute(
        """
        update order_deadline set
          decided_at = decided_at - interval '10 days', deadline = deadline - interval '10 days'
        where order_id = 'cancelled early'
        """);
    awaitAPurge("after-cancelled");

    scenario.create("cancelled early", 0, deadline, ago(Duration.ofMinutes(1)));
    scenario.awaitQuiet();

    assertThat(database.state("cancelled early")).isEqualTo("CANCELLED");
  }

  @Test
  void aPurgedOrderIsStaleHoweverLongItsDeadlineWasInterrupted() {
    Instant deadline = ago(Duration.ofDays(10));
    settle("interrupted", "PAID", deadline, deadline);
    awaitPurged("interrupted");
    database.execute(
        """
        insert into suspension (
          placed_by_kind, placed_by, reason, moves_deadlines, began_at, ends_at, ended_at, ended_by)
        values (
          'OPERATOR', 'test', 'test', true, ?::timestamptz, null, ?::timestamptz, 'test')
        """,
        deadline.minus(HOUR).toString(),
        ago(HOUR).toString());

    scenario.create("interrupted", 0, deadline, deadline.minus(DAY));
    scenario.passDeadline("behind-interrupted", 0);
    scenario.awaitQuiet();

    assertThat(database.column("interrupted", "decided_by")).isEqualTo("STALE");
    assertThat(scenario.outcomes().cancelled("interrupted")).isEmpty();
  }

  /** Kafka did not accept the events for longer than the retention. */
  @Test
  void eventsOfAnOrderThatIsPurgedOnceTheyArePublishedRestoreNothing() {
    Instant deadline = ago(Duration.ofDays(10));
    cancelWithoutPublishing("purged", 0, deadline);

    scenario.outcomes().awaitCancelled("purged");
    scenario.outcomes().awaitConflicts("purged", 1);
    awaitPurged("purged");
    awaitReflected();

    assertThat(database.state("purged")).isNull();
    assertThat(conflicts("purged")).isZero();
    assertThat(service.counter("order.timeout.restored.decisions")).isZero();
    scenario.create("purged", 0, deadline);
    scenario.awaitState("purged", "CLOSED");
    scenario.shop().paid("purged", "second");
    scenario.passDeadline("behind-purged", 0);
    scenario.awaitQuiet();
    assertThat(database.column("purged", "decided_by")).isEqualTo("STALE");
    assertThat(scenario.outcomes().cancelled("purged")).hasSize(1);
    assertThat(scenario.outcomes().conflicts("purged")).hasSize(1);
    assertThat(service.counter("order.timeout.restored.decisions")).isZero();
  }

  /** Nobody owns its shard. */
  @Test
  void anOrderIsKeptUntilItsEventsArePublished() {
    cancelWithoutPublishing("unpublished", Scenario.PARTITIONS, ago(Duration.ofDays(10)));
    awaitAPurge("after-unpublished");
    assertThat(database.state("unpublished")).isEqualTo("CANCELLED");

    database.execute("update outbox set published_at = now() where shard = ?", Scenario.PARTITIONS);
    awaitPurged("unpublished");
    assertThat(eventsWithoutOrder()).isZero();
  }

  /**
   * Inserts a cancelled order whose cancellation and one conflict, which ended, are not published.
   */
  private void cancelWithoutPublishing(String orderId, int shard, Instant deadline) {
    database.execute(
        """
        with cancelled as (
          insert into order_deadline (
            order_id, shard, state, created_at, deadline, decided_at, decided_by)
          select ?, ?, 'CANCELLED', t - interval '15 min', t, t, 'EXPIRY'
          from cast(? as timestamptz) t
          returning id, shard, decided_at
        )
        insert into outbox (order_row, payment_id, shard, paid_at, written_at, resolved_at)
        select id, payment, shard, decided_at, decided_at, decided_at
        from cancelled cross join unnest(array['', 'first']) as payment
        """,
        orderId,
        shard,
        deadline.toString());
  }

  /** Waits until the service has compared all that it has published with Postgres. */
  private void awaitReflected() {
    Map<TopicPartition, Long> ends =
        scenario
            .kafka()
            .ends(
                Scenario.partitions(
                    List.of(scenario.topics().cancelled(), scenario.topics().conflict())));
    await("the read-back")
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                ends.entrySet().stream()
                    .allMatch(
                        end ->
                            end.getValue() == 0
                                || database.count(
                                        "select count(*) from published_position where topic = ?"
                                            + " and partition = ? and next_offset >= ?",
                                        end.getKey().topic(),
                                        end.getKey().partition(),
                                        end.getValue())
                                    == 1));
  }

  private static Instant ago(Duration duration) {
    return Scenario.in(duration.negated());
  }

  private void settle(String orderId, String state, Instant decidedAt, Instant deadline) {
    database.settleInThePast(orderId, state, decidedAt, deadline);
  }

  /** Waits until a purge has passed over all rows that exist now. */
  private void awaitAPurge(String orderId) {
    settle(orderId, "PAID", ago(Duration.ofDays(100)), ago(Duration.ofDays(100)));
    awaitPurged(orderId);
    settle(orderId, "PAID", ago(Duration.ofDays(100)), ago(Duration.ofDays(100)));
    awaitPurged(orderId);
  }

  private void awaitPurged(String orderId) {
    await("purge of " + orderId)
        .atMost(Duration.ofSeconds(30))
        .until(() -> database.state(orderId) == null);
  }

  private long cancellations(String orderId) {
    return events(orderId, "payment_id = ''");
  }

  private long eventsWithoutOrder() {
    return database.count(
        """
        select count(*) from outbox o
        where not exists (select from order_deadline d where d.id = o.order_row)
        """);
  }

  private long conflicts(String orderId) {
    return events(orderId, "payment_id <> ''");
  }

  private long events(String orderId, String condition) {
    return database.count(
        """
        select count(*) from outbox o join order_deadline d on d.id = o.order_row
        where d.order_id = ? and o.%s
        """
            .formatted(condition),
        orderId);
  }
}
