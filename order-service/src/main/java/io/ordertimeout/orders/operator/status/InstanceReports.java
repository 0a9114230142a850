package io.ordertimeout.orders.operator.status;

import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import io.ordertimeout.orders.platform.postgres.Purgeable;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;
import tools.jackson.databind.json.JsonMapper;

/** The latest reports of all instances. Thread-safe. */
@Repository
public class InstanceReports implements Purgeable {

  /** An instance whose report is older counts as gone. */
  private static final Duration STALE = Duration.ofSeconds(10);

  /** The report of an instance, and when it was made. */
  record Reported(String instance, Instant at, boolean stale, InstanceReport report) {}

  private static final String SAVE =
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

  private static final String PRESENT =
      """
      select count(*) from instance_report
      where reported_at > clock_timestamp() - make_interval(secs => ?)
      """;

  private static final String DELETE = "delete from instance_report where instance = ?";

  private static final String PURGE =
      "delete from instance_report where reported_at < clock_timestamp() - interval '1 day'";

  private final JdbcTemplate jdbc;
  private final JsonMapper json = JsonMapper.builder().build();

  InstanceReports(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Stores the report of an instance. */
  void save(String instance, InstanceReport report) {
    jdbc.update(SAVE, instance, json.writeValueAsString(report));
  }

  /** Deletes the reports of instances that are long gone. */
  @Override
  public void purge() {
    jdbc.update(PURGE);
  }

  /** Deletes the report of an instance that ends. */
  void delete(String instance) {
    jdbc.update(DELETE, instance);
  }

  /** Returns the reports of the last hour; those of silent instances come last. */
  List<Reported> all() {
    return jdbc.query(
        ALL,
        (row, number) ->
            new Reported(
                row.getString("instance"),
                requiredInstant(row, "reported_at"),
                row.getBoolean("stale"),
                json.readValue(row.getString("report"), InstanceReport.class)),
        STALE.toSeconds());
  }

  /** Returns how many instances are not silent. */
  public long present() {
    return jdbc.queryForList(PRESENT, Long.class, STALE.toSeconds()).stream()
        .findFirst()
        .orElse(0L);
  }

  /** Returns the instance that has most recently reported to own the shard, if it is not silent. */
  public Optional<String> ownerOf(int shard) {
    return jdbc.queryForList(OWNER, String.class, STALE.toSeconds(), shard).stream().findFirst();
  }
}
