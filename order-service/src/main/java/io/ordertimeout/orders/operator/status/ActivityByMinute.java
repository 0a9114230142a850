package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.platform.monitoring.ActivityCounters;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/** What all instances did, minute by minute, in Postgres. Thread-safe. */
@Repository
class ActivityByMinute {

  /**
   * A minute of all instances.
   *
   * @param minute when it began
   * @param registered orders that became pending
   * @param paid pending orders that were paid
   * @param closed pending orders that were closed
   * @param cancelled orders that were cancelled
   * @param conflicts payments that found their order cancelled or closed
   * @param lateP50Millis lateness that half of the published cancellations kept within; null if
   *     there were none
   * @param lateP99Millis the same of 99 of 100; -1 if beyond all bounds
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
      values (date_trunc('minute', clock_timestamp()), ?, ?, ?, ?, ?, ?, ?::bigint[])
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

  private static final String FORGET =
      "delete from activity where minute < clock_timestamp() - interval '2 days'";

  private final JdbcTemplate jdbc;

  ActivityByMinute(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Adds what an instance did since it last said so to the present minute. */
  void add(String instance, ActivityCounters.Counts counts) {
    jdbc.update(
        ADD,
        instance,
        counts.registered(),
        counts.paid(),
        counts.closed(),
        counts.cancelled(),
        counts.conflicts(),
        counts.lateness().stream().mapToLong(Long::longValue).toArray());
  }

  /** Forgets what nobody asks for any more. */
  void forget() {
    jdbc.update(FORGET);
  }

  /** The last sixty minutes, the present one last. */
  List<Minute> lastHour() {
    return jdbc.query(LAST_HOUR, ActivityByMinute::minute);
  }

  private static Minute minute(ResultSet rs, int rowNumber) throws SQLException {
    List<Long> lateness = longs(rs.getArray("lateness"));
    return new Minute(
        rs.getObject("minute", OffsetDateTime.class).toInstant(),
        rs.getLong("registered"),
        rs.getLong("paid"),
        rs.getLong("closed"),
        rs.getLong("cancelled"),
        rs.getLong("conflicts"),
        within(lateness, 0.5),
        within(lateness, 0.99));
  }

  private static List<Long> longs(@Nullable Array array) throws SQLException {
    return array == null
        ? List.of()
        : Arrays.stream((Object[]) array.getArray()).map(n -> ((Number) n).longValue()).toList();
  }

  /** The bound that the share of all keeps within. */
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
