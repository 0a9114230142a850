package io.ordertimeout.orders.suspension;

import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.OrderTimeoutProperties.AfterOutage;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The times at which the owner of each shard last reached both Kafka and Postgres. A gap that is
 * longer than {@code order-timeout.expiry.outage-after} is an outage. Where outages extend
 * deadlines, the heartbeat that ends an outage records it, and the deciding statement cancels
 * nothing until then. Thread-safe.
 */
@Repository
public class ShardHeartbeats {

  /**
   * SQL condition: the shards {@code :shards} have had a heartbeat within the longest silence that
   * is no outage, or have never had one. Its other parameters are those of {@link #aliveness}.
   */
  public static final String ARE_ALIVE =
      """
      not exists (
            select from shard_heartbeat
            where shard = any(:shards::int[])
              and clock_timestamp() - alive_at > :longestSilence::interval)""";

  private static final Logger log = LoggerFactory.getLogger(ShardHeartbeats.class);

  private static final Duration FOREVER = Duration.ofDays(1_000_000);

  // The outer query is complete before the heartbeats are written.
  private static final String BEAT =
      """
      with gap as materialized (
        select shard, alive_at, clock_timestamp() as ended_at from shard_heartbeat
        where shard = any(:shards::int[])
          and alive_at < clock_timestamp() - make_interval(secs => :outageAfter)
        order by shard
        for update
      ), outage as (
        insert into shard_outage (shard, began_at, ended_at)
        select shard, alive_at, ended_at from gap where :extendsDeadlines
        on conflict do nothing
      ), heartbeat as (
        insert into shard_heartbeat as h (shard, alive_at)
        select shard, clock_timestamp() from unnest(:shards::int[]) as s(shard) order by shard
        on conflict (shard) do update set alive_at = excluded.alive_at
      )
      select shard, alive_at as began_at from gap
      """;

  private static final String SILENT =
      """
      select s.shard from generate_series(0, ? - 1) as s(shard)
      where not exists (
        select from shard_heartbeat h
        where h.shard = s.shard and h.alive_at > clock_timestamp() - make_interval(secs => ?))
      order by 1
      """;

  private static final String PURGE_OUTAGES =
      """
      delete from shard_outage where ctid = any(array(
        select ctid from shard_outage where began_at < ? and ended_at < ?
        order by began_at limit ?))
      """;

  private record Gap(int shard, OffsetDateTime beganAt) {}

  private final JdbcTemplate jdbc;
  private final JdbcClient client;
  private final boolean extendsDeadlines;
  private final Duration outageAfter;

  ShardHeartbeats(JdbcTemplate jdbc, JdbcClient client, OrderTimeoutProperties properties) {
    this.jdbc = jdbc;
    this.client = client;
    this.extendsDeadlines = properties.expiry().afterOutage() == AfterOutage.EXTEND_BY_OUTAGE;
    this.outageAfter = properties.expiry().outageAfter();
  }

  /** The parameters of {@link #ARE_ALIVE} but the shards, as configured. */
  public Map<String, Object> aliveness() {
    return Map.of("longestSilence", (extendsDeadlines ? outageAfter : FOREVER).toString());
  }

  /** Records that the shards are served now, and the outages that end with this heartbeat. */
  public void beat(Collection<Integer> shards) {
    client
        .sql(BEAT)
        .param("shards", shards.stream().mapToInt(Integer::intValue).toArray())
        .param("outageAfter", outageAfter.toMillis() / 1e3)
        .param("extendsDeadlines", extendsDeadlines)
        .query(
            (row, number) ->
                new Gap(row.getInt("shard"), row.getObject("began_at", OffsetDateTime.class)))
        .list()
        .forEach(this::warn);
  }

  private void warn(Gap gap) {
    log.warn(
        "Shard {} was without Kafka, Postgres or an owner since {}; {}",
        gap.shard,
        gap.beganAt,
        extendsDeadlines
            ? "the deadlines of its orders are extended by that time"
            : "orders that came due since are decided once their payments are read");
  }

  /** Deletes at most {@code limit} outages that ended before a time; returns how many. */
  public int purgeOutages(Instant before, int limit) {
    return jdbc.update(PURGE_OUTAGES, parameter(before), parameter(before), limit);
  }

  /** Returns the shards below a number that have had no heartbeat for that long, ascending. */
  public List<Integer> silent(int shards, Duration duration) {
    return jdbc.queryForList(SILENT, Integer.class, shards, duration.toMillis() / 1e3);
  }
}
