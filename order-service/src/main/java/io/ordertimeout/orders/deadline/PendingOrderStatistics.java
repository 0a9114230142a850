package io.ordertimeout.orders.deadline;

import io.ordertimeout.orders.suspension.ExpiryHolds;
import io.ordertimeout.orders.suspension.ExpiryPauses;
import io.ordertimeout.orders.suspension.ParkedOrders;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** Counts and sums of pending orders. Thread-safe. */
@Repository
public class PendingOrderStatistics {

  /**
   * The orders that are past their deadlines.
   *
   * @param overdue those that should have been decided
   * @param suspended those that a pause or hold keeps from being decided
   */
  public record PastDue(long overdue, long suspended) {}

  /**
   * What the orders of one currency that come due within one minute amount to.
   *
   * @param currency the currency
   * @param minute the minute, counted from now
   * @param amount the sum of their amounts
   */
  public record DueAmount(String currency, int minute, BigDecimal amount) {}

  // The windows of a shard are read from the ends of its part of an index, however many orders lie
  // between them. The newest are read, too, because orders under a pause collect among the oldest.
  // now() is stable, so that the index bounds the comparison: clock_timestamp() would read all
  // rows.
  private static final String PAST_DUE =
      """
      with paused as materialized (%s), held as materialized (%s)
      select count(*) filter (where not suspended) as overdue,
        count(*) filter (where suspended) as suspended
      from (
        select exists (select from held where held.shard = d.shard)
            or exists (select from paused p where p.channel is null or p.channel = d.channel)
          as suspended
        from generate_series(
          0, (select max(shard) from order_deadline where state = 'PENDING')) as s(shard)
        cross join lateral (%s union %s) d
        where %s
      ) past_due
      """
          .formatted(
              ExpiryPauses.PAUSED_CHANNELS,
              ExpiryHolds.HELD_SHARDS,
              window("asc"),
              window("desc"),
              ParkedOrders.NOT_PARKED);

  private static String window(String direction) {
    return """
    (
      select o.order_id, o.shard, o.channel from order_deadline o
      where o.shard = s.shard and o.state = 'PENDING'
        and o.deadline < now() - make_interval(secs => :seconds)
      order by o.deadline %s, o.id %s
      limit :window
    )"""
        .formatted(direction, direction);
  }

  private static final String PENDING_IN_SHARDS =
      """
      exists (
        select from order_deadline d
        where d.order_id = p.order_id and d.state = 'PENDING' and d.shard = any(?::int[]))""";

  private static final String DUE_AMOUNTS =
      """
      select currency, floor(extract(epoch from deadline - now()) / 60)::int as minute,
        sum(amount) as amount
      from order_deadline
      where shard = ? and state = 'PENDING' and deadline >= now()
        and deadline < now() + interval '60 min' and currency is not null and amount is not null
      group by 1, 2
      """;

  private final JdbcClient client;
  private final ParkedOrders parked;

  PendingOrderStatistics(JdbcClient client, ParkedOrders parked) {
    this.client = client;
    this.parked = parked;
  }

  /**
   * Counts the orders of all shards, owned or not, that are that long past their deadlines, parked
   * ones excluded.
   *
   * @param window how many orders of each shard are counted, of the oldest and of the newest
   */
  public PastDue pastDue(Duration by, int window) {
    return client
        .sql(PAST_DUE)
        .param("seconds", by.toMillis() / 1e3)
        .param("window", window)
        .query(PastDue.class)
        .single();
  }

  /** Counts the pending orders of those shards that are parked. */
  public long parked(Collection<Integer> shards) {
    int[] numbers = shards.stream().mapToInt(Integer::intValue).toArray();
    return parked.count(PENDING_IN_SHARDS, (Object) numbers);
  }

  /** Sums up the orders of a shard that come due within the next hour, by currency and minute. */
  public List<DueAmount> amountsDueWithinTheHour(int shard) {
    return client.sql(DUE_AMOUNTS).param(shard).query(DueAmount.class).list();
  }
}
