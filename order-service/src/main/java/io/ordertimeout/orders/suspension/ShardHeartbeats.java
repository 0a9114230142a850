package io.ordertimeout.orders.suspension;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.OrderTimeoutProperties.AfterOutage;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

/**
 * When the owner of each shard last reached both Kafka and Postgres, in Postgres. A gap longer than
 * configured is an outage. If outages extend deadlines, the heartbeat that ends one notes it, and
 * as long as there is none the deciding statement decides nothing. Thread-safe.
 */
@Repository
public class ShardHeartbeats {

  private static final Logger log = LoggerFactory.getLogger(ShardHeartbeats.class);

  /** To be part of a statement that cancels; parameters are the shard and the longest silence. */
  public static final String IS_ALIVE =
      """
      coalesce((select clock_timestamp() - alive_at from shard_heartbeat where shard = ?), '0')
            <= ?::interval""";

  private static final String GAPS =
      """
      select shard, alive_at, clock_timestamp() as ended_at from shard_heartbeat
      where shard = any(?::int[]) and alive_at < clock_timestamp() - make_interval(secs => ?)
      order by shard
      for update
      """;

  private static final String NOTE_OUTAGE =
      """
      insert into shard_outage (shard, began_at, ended_at) values (?, ?, ?) on conflict do nothing
      """;

  private static final String BEAT =
      """
      insert into shard_heartbeat as h (shard, alive_at)
      select shard, clock_timestamp() from unnest(?::int[]) as s(shard) order by shard
      on conflict (shard) do update set alive_at = excluded.alive_at
      """;

  private static final String SILENT =
      """
      select s.shard from generate_series(0, ? - 1) as s(shard)
      where not exists (
        select from shard_heartbeat h
        where h.shard = s.shard and h.alive_at > clock_timestamp() - make_interval(secs => ?))
      order by 1
      """;

  private record Gap(int shard, OffsetDateTime beganAt, OffsetDateTime endedAt) {}

  private final JdbcTemplate jdbc;
  private final boolean extend;
  private final Duration outageAfter;

  ShardHeartbeats(JdbcTemplate jdbc, OrderTimeoutProperties properties) {
    this.jdbc = jdbc;
    this.extend = properties.expiry().afterOutage() == AfterOutage.EXTEND_BY_OUTAGE;
    this.outageAfter = properties.expiry().outageAfter();
  }

  /** Notes that the shards are served now, and the outages that end with this. */
  @Transactional
  public void beat(Collection<Integer> shards) {
    int[] some = shards.stream().mapToInt(Integer::intValue).toArray();
    jdbc.query(
            GAPS,
            (rs, row) ->
                new Gap(
                    rs.getInt("shard"),
                    rs.getObject("alive_at", OffsetDateTime.class),
                    rs.getObject("ended_at", OffsetDateTime.class)),
            some,
            outageAfter.toMillis() / 1e3)
        .forEach(this::end);
    jdbc.update(BEAT, (Object) some);
  }

  private void end(Gap gap) {
    if (extend) {
      jdbc.update(NOTE_OUTAGE, gap.shard, gap.beganAt, gap.endedAt);
    }
    log.warn(
        "Shard {} was without Kafka, Postgres or an owner since {}; {}",
        gap.shard,
        gap.beganAt,
        extend
            ? "deadlines are extended by it"
            : "orders due since are decided once their payments are read");
  }

  /** Those of the shards below the number that nobody has served for that long, ascending. */
  public List<Integer> silent(int shards, Duration duration) {
    return jdbc.queryForList(SILENT, Integer.class, shards, duration.toMillis() / 1e3);
  }
}
