package io.ordertimeout.orders.operator.status;

import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import io.ordertimeout.orders.platform.monitoring.ActivityCounters;
import io.ordertimeout.orders.platform.postgres.Purgeable;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** The activity of all instances, minute by minute. Thread-safe. */
@Repository
class ActivityByMinute implements Purgeable {

  /**
   * The activity of all instances within a minute.
   *
   * @param minute when it began
   * @param registered orders that became pending
   * @param paid pending orders that were paid
   * @param closed pending orders that were closed
   * @param cancelled orders that were cancelled
   * @param conflicts payments that met a cancelled or closed order
   * @param lateP50Millis median lateness of the published cancellations, rounded up to a bound of
   *     the histogram; null if there were none
   * @param lateP99Millis 99th percentile of the same; -1 if it exceeds all bounds
   */
  record Minute(
      Instant minute,
      long registered,
      long paid,
      long closed,
      long cancelled,
      long conflicts,
      @Nullable Long lateP50Millis,
      @Nullable Long lateP99Millis) {}

  private static final String ADD =
      """
      insert into activity as a (
        minute, instance, registered, paid, closed, cancelled, conflicts, lateness)
      values (
        date_trunc('minute', clock_timestamp()), :instance, :registered, :paid, :closed, :cancelled,
        :conflicts, :lateness::bigint[])
      on conflict (minute, instance) do update set
        registered = a.registered + excluded.registered,
        paid = a.paid + excluded.paid,
        closed = a.closed + excluded.closed,
        cancelled = a.cancelled + excluded.cancelled,
        conflicts = a.conflicts + excluded.conflicts,
        lateness = (
          select array_agg(x + y order by i)
          from unnest(a.lateness, excluded.lateness) with ordinality as u(x, y, i))
      """;

  private static final String LAST_HOUR =
      """
      select
        m.minute, coalesce(sum(registered), 0) as registered, coalesce(sum(paid), 0) as paid,
        coalesce(sum(closed), 0) as closed, coalesce(sum(cancelled), 0) as cancelled,
        coalesce(sum(conflicts), 0) as conflicts,
        (select array_agg(total order by i) from (
          select i, sum(n) as total
          from activity l cross join unnest(l.lateness) with ordinality as u(n, i)
          where l.minute = m.minute group by i) by_bound) as lateness
      from generate_series(
        date_trunc('minute', clock_timestamp()) - interval '59 min',
        date_trunc('minute', clock_timestamp()), interval '1 min') as m(minute)
      left join activity a on a.minute = m.minute
      group by m.minute
      order by m.minute
      """;

  private static final String PURGE =
      "delete from activity where minute < now() - interval '2 days'";

  private final JdbcClient client;

  ActivityByMinute(JdbcClient client) {
    this.client = client;
  }

  /** Adds the activity of an instance since its last report to the current minute. */
  void add(String instance, ActivityCounters.Counts counts) {
    client
        .sql(ADD)
        .param("instance", instance)
        .param("registered", counts.registered())
        .param("paid", counts.paid())
        .param("closed", counts.closed())
        .param("cancelled", counts.cancelled())
        .param("conflicts", counts.conflicts())
        .param("lateness", counts.lateness().stream().mapToLong(Long::longValue).toArray())
        .update();
  }

  /** Deletes minutes that are no longer shown. */
  @Override
  public void purge() {
    client.sql(PURGE).update();
  }

  /** Returns the last sixty minutes, the current one last. */
  List<Minute> lastHour() {
    return client.sql(LAST_HOUR).query(ActivityByMinute::minute).list();
  }

  private static Minute minute(ResultSet row, int rowNumber) throws SQLException {
    List<Long> lateness = longs(row.getArray("lateness"));
    return new Minute(
        requiredInstant(row, "minute"),
        row.getLong("registered"),
        row.getLong("paid"),
        row.getLong("closed"),
        row.getLong("cancelled"),
        row.getLong("conflicts"),
        within(lateness, 0.5),
        within(lateness, 0.99));
  }

  private static List<Long> longs(@Nullable Array array) throws SQLException {
    return array == null
        ? List.of()
        : Arrays.stream((Object[]) array.getArray()).map(n -> ((Number) n).longValue()).toList();
  }

  /** Returns the bound that a share of the cancellations does not exceed. */
  private static @Nullable Long within(List<Long> lateness, double share) {
    long total = lateness.stream().mapToLong(Long::longValue).sum();
    if (total == 0) {
      return null;
    }
    long rank = (long) Math.ceil(total * share);
    List<Duration> bounds = ActivityCounters.LATENESS_BOUNDS;
    long seen = 0;
    for (int i = 0; i < Math.min(bounds.size(), lateness.size()); i++) {
      seen += lateness.get(i);
      if (seen >= rank) {
        return bounds.get(i).toMillis();
      }
    }
    return -1L;
  }
}
