package io.ordertimeout.orders.deadline;

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
   * What the orders of one currency that come due within one minute amount to.
   *
   * @param currency the currency
   * @param minute the minute, counted from now
   * @param amount the sum of their amounts
   */
  public record DueAmount(String currency, int minute, BigDecimal amount) {}

  // now() is stable, so that the index bounds the comparison: clock_timestamp() would read all
  // rows.
  private static final String OVERDUE =
      """
      select coalesce(sum(overdue.orders), 0)
      from generate_series(
        0, (select max(shard) from order_deadline where state = 'PENDING')) as s(shard)
      cross join lateral (
        select count(*) as orders from (
          select from order_deadline d
          where d.shard = s.shard and state = 'PENDING'
            and deadline < now() - make_interval(secs => :seconds)
            and %s
          limit :limit
        ) late
      ) overdue
      """
          .formatted(ParkedOrders.NOT_PARKED);

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
   * @param limitPerShard where counting stops, in each shard
   */
  public long overdue(Duration by, int limitPerShard) {
    return client
        .sql(OVERDUE)
        .param("seconds", by.toMillis() / 1e3)
        .param("limit", limitPerShard)
        .query(Long.class)
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
