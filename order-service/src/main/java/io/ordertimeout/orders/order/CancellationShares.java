package io.ordertimeout.orders.order;

import io.ordertimeout.orders.suspension.SuspensionConditions;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * How orders ended whose deadlines passed within the last hour. Thread-safe.
 *
 * <p>An order is the likelier to be cancelled the less time it has left, so the share is measured
 * for each interval of the time that was left. It is what one sees who looks at the pending orders
 * at any moment: of the time that the orders of the sample were pending within the interval, the
 * part of those that were cancelled.
 */
@Repository
public class CancellationShares {

  /**
   * The share of one interval.
   *
   * @param orders how many orders of the sample were pending within the interval
   * @param cancelled the share that was cancelled, from 0 to 1; null if there are none
   */
  public record Share(long orders, @Nullable Double cancelled) {}

  /** How many orders of each minute are read. */
  private static final int SAMPLE = 100;

  // By the index for the purge. Orders that a suspension concerns are not cancelled for now, and
  // would make all others look safer.
  private static final String SHARES =
      """
      with in_force as materialized (%s), sample as materialized (
        select d.state = 'CANCELLED' as cancelled,
          case when d.state = 'CANCELLED' then 0
            else extract(epoch from d.deadline - d.decided_at) end as least_left,
          extract(epoch from d.deadline - greatest(d.created_at, d.registered_at)) as most_left
        from generate_series(0, 59) as m(minute)
        cross join lateral (
          select d.state, d.decided_by, d.channel, d.shard, d.deadline, d.decided_at, d.created_at,
            d.registered_at
          from order_deadline d
          where d.state <> 'PENDING' and d.deadline is not null
            and greatest(d.decided_at, d.deadline, d.latest_deadline)
              >= now() - make_interval(mins => m.minute + 1)
            and greatest(d.decided_at, d.deadline, d.latest_deadline)
              < now() - make_interval(mins => m.minute)
          order by greatest(d.decided_at, d.deadline, d.latest_deadline)
          limit :sample
        ) d
        where d.decided_by <> 'STALE'
          and not exists (select from in_force s where %s)
      )
      select count(*) filter (where seconds > 0) as orders,
        sum(seconds) filter (where cancelled) / nullif(sum(seconds), 0) as cancelled
      from (
        select i.number, x.cancelled,
          greatest(0, least(i.most, x.most_left) - greatest(i.least, x.least_left)) as seconds
        from unnest(:least::float8[], :most::float8[]) with ordinality as i(least, most, number)
        left join sample x on true
      ) within
      group by number
      order by number
      """
          .formatted(SuspensionConditions.IN_FORCE, SuspensionConditions.CONCERNS);

  private final JdbcClient client;

  CancellationShares(JdbcClient client) {
    this.client = client;
  }

  /**
   * Measures the shares.
   *
   * @param bounds the upper bounds of the intervals, ascending; the first interval begins at the
   *     deadline, each other at the bound before it
   */
  public List<Share> measure(List<Duration> bounds) {
    double[] most = bounds.stream().mapToDouble(bound -> bound.toMillis() / 1e3).toArray();
    double[] least = new double[most.length];
    System.arraycopy(most, 0, least, 1, most.length - 1);
    return client
        .sql(SHARES)
        .param("sample", SAMPLE)
        .param("least", least)
        .param("most", most)
        .query(
            (row, number) ->
                new Share(row.getLong("orders"), row.getObject("cancelled", Double.class)))
        .list();
  }
}
