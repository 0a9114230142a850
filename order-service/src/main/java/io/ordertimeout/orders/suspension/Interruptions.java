package io.ordertimeout.orders.suspension;

import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Times that do not count against a customer: outages and pauses, once they are over, where they
 * are configured to move deadlines. A deadline moves when it is reached, not before, by the part of
 * all those times during which its order was open; overlapping times count once. Thread-safe.
 */
@Repository
public class Interruptions {

  /**
   * An interruption while an order was open.
   *
   * @param isPause whether it was a pause; else it was an outage
   */
  public record Interruption(Instant beganAt, Instant endedAt, boolean isPause) {}

  /**
   * What an interruption has to know of an order.
   *
   * @param shard the order's shard
   * @param channel its sales channel, if stated
   * @param deadline its payment deadline
   * @param extendedUntil the end of the last interruption that has moved the deadline, if any
   */
  public record Lifetime(
      int shard,
      @Nullable String channel,
      Instant createdAt,
      Instant deadline,
      @Nullable Instant extendedUntil) {}

  // Those that concern the order d and ended after a time, by indexes: however many interruptions
  // there have been, those that were over before an order was created cost nothing. The upper
  // bounds
  // are always met; with them, Postgres expects few rows and uses the indexes. An order that was
  // due
  // before the interruption began had its whole time.
  private static final String ENDED_AFTER =
      """
      (
        select o.began_at, o.ended_at, false as is_pause from shard_outage o
        where o.shard = d.shard and o.ended_at > %1$s and o.ended_at < 'infinity'
          and o.began_at < d.deadline
        union all
        select s.began_at, %2$s, true from suspension s
        where s.moves_deadlines and %2$s > %1$s and %2$s < 'infinity'
          and %2$s <= clock_timestamp()
          and s.began_at < d.deadline and %3$s
      ) i""";

  private static final String UNAPPLIED = endedAfter("greatest(d.created_at, d.extended_until)");

  // now() is stable, so that the index bounds the comparison. A pause that has ended since then is
  // in force by the condition that the order is not suspended.
  private static final String LATEST_END =
      """
      (
            select coalesce(max(ended_at), '-infinity')
            from (
              select max(o.ended_at) as ended_at from shard_outage o where o.shard = any(:shards::int[])
              union all
              select max(%1$s) from suspension s where %1$s <= now()
            ) latest
          )"""
          .formatted(SuspensionConditions.END);

  /**
   * SQL condition: no interruption in the shards {@code :shards} has ended since the order {@code
   * d} was created or last extended. The latest end is looked up once, for all orders. Only valid
   * together with {@link SuspensionConditions#NOT_SUSPENDED}.
   */
  public static final String NONE_SINCE =
      "greatest(d.created_at, d.extended_until) >= %s".formatted(LATEST_END);

  /**
   * SQL condition: no interruption is left by which the deadline of the order {@code d} moves. Its
   * shard has to be one of {@code :shards}. Only valid together with {@link
   * SuspensionConditions#NOT_SUSPENDED}.
   */
  public static final String NONE_LEFT =
      "(%s or not exists (select from %s))".formatted(NONE_SINCE, UNAPPLIED);

  /**
   * SQL query, to be joined laterally to the order {@code d}: {@code length} is how far its
   * deadline still has to move, {@code until} the end of the last of these interruptions; both are
   * null if there are none.
   */
  public static final String STILL_TO_APPLY =
      """
      select sum(upper(r) - lower(r)) as length, max(upper(r)) as until
      from (
        select unnest(range_agg(tstzrange(greatest(i.began_at, d.created_at), i.ended_at))) as r
        from %s
      ) lived_through
      """
          .formatted(UNAPPLIED);

  /**
   * SQL query, to be joined laterally to the newly created order {@code d}: {@code length} is how
   * much of its time to pay was interrupted, at most; zero if none of it was. A condition on {@code
   * d} has to follow; nothing is looked up for orders that do not meet it.
   */
  public static final String BEFORE_REGISTRATION =
      """
      select coalesce(sum(i.ended_at - greatest(i.began_at, d.created_at)), '0') as length
      from %s
      where\
      """
          .formatted(endedAfter("d.created_at"));

  private static final String LIFETIME =
      """
      (values (:shard::int, :channel::text, :createdAt::timestamptz, :deadline::timestamptz,
        :extendedUntil::timestamptz)) as d (shard, channel, created_at, deadline, extended_until)
      """;

  private static final String DELAY =
      "select extract(epoch from s.length) from %s cross join lateral (%s) s where s.length is not null"
          .formatted(LIFETIME, STILL_TO_APPLY);

  private static final String APPLIED =
      """
      select i.began_at, i.ended_at, i.is_pause
      from %s cross join lateral (select * from %s) i
      where i.ended_at <= d.extended_until
      order by i.ended_at
      """
          .formatted(LIFETIME, endedAfter("d.created_at"));

  private final JdbcClient client;

  Interruptions(JdbcClient client) {
    this.client = client;
  }

  private static String endedAfter(String time) {
    return ENDED_AFTER.formatted(time, SuspensionConditions.END, SuspensionConditions.CONCERNS);
  }

  /** Returns how far the order's deadline still has to move; empty if it does not. */
  public Optional<Duration> stillToApply(Lifetime order) {
    return of(DELAY, order)
        .query(Double.class)
        .optional()
        .map(seconds -> Duration.ofMillis((long) (seconds * 1e3)));
  }

  /** Returns the interruptions that have moved the order's deadline, by their ends. */
  public List<Interruption> applied(Lifetime order) {
    return of(APPLIED, order)
        .query(
            (row, number) ->
                new Interruption(
                    requiredInstant(row, "began_at"),
                    requiredInstant(row, "ended_at"),
                    row.getBoolean("is_pause")))
        .list();
  }

  private JdbcClient.StatementSpec of(String statement, Lifetime order) {
    return client
        .sql(statement)
        .param("shard", order.shard())
        .param("channel", order.channel())
        .param("createdAt", parameter(order.createdAt()))
        .param("deadline", parameter(order.deadline()))
        .param("extendedUntil", parameter(order.extendedUntil()));
  }
}
