package io.ordertimeout.orders.operator.status;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;
import tools.jackson.databind.json.JsonMapper;

/** What all instances last said of themselves, in Postgres. Thread-safe. */
@Repository
public class InstanceReports {

  /** From then on an instance counts as gone. */
  private static final Duration STALE = Duration.ofSeconds(10);

  /** What an instance said, and when. */
  record Reported(String instance, Instant at, boolean stale, InstanceReport report) {}

  private static final String SAY =
      """
      insert into instance_report (instance, report) values (?, ?::jsonb)
      on conflict (instance) do update set
        report = excluded.report, reported_at = clock_timestamp()
      """;

  private static final String ALL =
      """
      select
        instance, reported_at, report,
        reported_at < clock_timestamp() - make_interval(secs => ?) as stale
      from instance_report
      where reported_at > clock_timestamp() - interval '1 hour'
      order by stale, instance
      """;

  private static final String OWNER =
      """
      select instance from instance_report r
      where reported_at > clock_timestamp() - make_interval(secs => ?)
        and exists (
          select from jsonb_array_elements(r.report -> 'shards') s where (s ->> 'shard')::int = ?)
      order by reported_at desc limit 1
      """;

  private static final String LEAVE = "delete from instance_report where instance = ?";

  private static final String FORGET =
      "delete from instance_report where reported_at < clock_timestamp() - interval '1 day'";

  private final JdbcTemplate jdbc;
  private final JsonMapper json = JsonMapper.builder().build();

  InstanceReports(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Says how this instance stands; forgets the ones that are long gone. */
  void say(String instance, InstanceReport report) {
    jdbc.update(SAY, instance, json.writeValueAsString(report));
    jdbc.update(FORGET);
  }

  /** Says that this instance ends. */
  void leave(String instance) {
    jdbc.update(LEAVE, instance);
  }

  /** What the instances of the last hour said; those that have fallen silent last. */
  List<Reported> all() {
    return jdbc.query(
        ALL,
        (rs, row) ->
            new Reported(
                rs.getString("instance"),
                rs.getObject("reported_at", OffsetDateTime.class).toInstant(),
                rs.getBoolean("stale"),
                json.readValue(rs.getString("report"), InstanceReport.class)),
        STALE.toSeconds());
  }

  /** The instance that said last that it serves the shard, if it is not long ago. */
  public Optional<String> ownerOf(int shard) {
    return jdbc.queryForList(OWNER, String.class, STALE.toSeconds(), shard).stream().findFirst();
  }
}
