package io.ordertimeout.orders.order;

import io.ordertimeout.orders.suspension.ParkedOrders;
import io.ordertimeout.orders.suspension.PaymentAttempts;
import io.ordertimeout.orders.suspension.SuspensionConditions;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** Counts and sums of pending orders. Thread-safe. */
@Repository
public class PendingOrderStatistics {

  /**
   * The pending orders that are not simply waiting for their deadlines.
   *
   * @param overdue those past their deadlines that should have been decided; those that a pause or
   *     hold keeps from that do not count
   * @param parked those that are parked
   */
  public record Exceptions(long overdue, long parked) {}

  /**
   * What orders of one channel and currency that come due within one minute amount to.
   *
   * @param minute the minute, counted from now
   * @param sampled whether these are only some of the orders of their shards in that minute
   * @param held whether their shards are held
   * @param channel the sales channel; null if the orders state none
   * @param currency the currency; null if the orders have no amounts
   * @param amount the sum of their amounts
   * @param orders how many orders these are
   */
  public record DueAmount(
      int minute,
      boolean sampled,
      boolean held,
      @Nullable String channel,
      @Nullable String currency,
      BigDecimal amount,
      long orders) {}

  // The windows of a shard are read from the ends of its part of an index, however many orders lie
  // between them. The newest are read, too, because orders under a pause collect among the oldest.
  // now() is stable, so that the index bounds the comparison: clock_timestamp() would read all
  // rows.
  private static final String EXCEPTIONS =
      """
      with in_force as materialized (%s)
      select count(*) as overdue,
        (
          select count(*) from (%s) p
          cross join lateral (
            select o.state, o.shard from order_deadline o where o.order_id = p.order_id
            -- Keeps the other conditions from leading to another index.
            offset 0
          ) d
          where d.state = 'PENDING' and d.shard = any(:shards::int[])
        ) as parked
      from generate_series(
        0, (select max(shard) from order_deadline where state = 'PENDING')) as s(shard)
      cross join lateral (%s union %s) d
      where %%s and %s
        and not exists (select from in_force s where %s)
      """
          .formatted(
              SuspensionConditions.IN_FORCE,
              ParkedOrders.FIRST_AND_LAST,
              window("asc"),
              window("desc"),
              ParkedOrders.NOT_PARKED,
              SuspensionConditions.CONCERNS);

  private static String window(String direction) {
    return """
    (
      select o.order_id, o.shard, o.channel, o.deadline, o.grace_seconds, o.confirm_seconds from order_deadline o
      where o.shard = s.shard and o.state = 'PENDING'
        and o.deadline < now() - make_interval(secs => :seconds)
      order by o.deadline %s, o.id %s
      limit :window
    )"""
        .formatted(direction, direction);
  }

  private static final String DUE_AMOUNTS =
      """
      with held as materialized (%s), due as (
        select m.minute, o.channel, o.currency, o.amount,
          exists (select from held h where h.shard = s.shard) as held,
          count(*) over (partition by s.shard, m.minute) >= :window as sampled
        from unnest(:shards::int[]) as s(shard)
        cross join generate_series(0, 59) as m(minute)
        cross join lateral (
          select d.channel, d.currency, d.amount from order_deadline d
          where d.shard = s.shard and d.state = 'PENDING'
            and d.deadline >= now() + make_interval(mins => m.minute)
            and d.deadline < now() + make_interval(mins => m.minute + 1)
          order by d.deadline, d.id
          limit :window
        ) o
      )
      select minute, sampled, held, channel, currency, coalesce(sum(amount), 0) as amount,
        count(*) as orders
      from due
      group by minute, sampled, held, channel, currency
      """
          .formatted(SuspensionConditions.HELD_SHARDS);

  private final JdbcClient client;
  private final PaymentAttempts attempts;
  private final NextStage nextStage;
  private final String exceptions;

  PendingOrderStatistics(JdbcClient client, PaymentAttempts attempts, NextStage nextStage) {
    this.client = client;
    this.attempts = attempts;
    this.nextStage = nextStage;
    this.exceptions =
        EXCEPTIONS.formatted(
            "d.deadline + %s < now() - make_interval(secs => :seconds)%s"
                .formatted(NextStage.GRACE, attempts.andNoneUnderWay("now()")));
  }

  /**
   * Counts the orders of all shards, owned or not, that should have been decided that long ago,
   * without those that are parked, paused or held, or of which a payment is under way, and the
   * parked orders of some shards.
   *
   * @param window how many orders of each shard, and how many parked ones, are counted, of the
   *     oldest and of the newest
   * @param shards the shards whose parked orders are counted
   */
  public Exceptions exceptions(Duration by, int window, Collection<Integer> shards) {
    return client
        .sql(exceptions)
        .params(nextStage.parameters())
        .params(attempts.parameters())
        .param("seconds", by.toMillis() / 1e3)
        .param("window", window)
        .param("shards", array(shards))
        .query(Exceptions.class)
        .single();
  }

  /**
   * Sums up the orders of some shards that come due within the next hour, by minute, channel and
   * currency.
   *
   * @param window how many orders of each shard and minute are read; if there are more, these are a
   *     sample
   */
  public List<DueAmount> amountsDueWithinTheHour(Collection<Integer> shards, int window) {
    return client
        .sql(DUE_AMOUNTS)
        .param("shards", array(shards))
        .param("window", window)
        .query(DueAmount.class)
        .list();
  }

  private static int[] array(Collection<Integer> shards) {
    return shards.stream().mapToInt(Integer::intValue).toArray();
  }
}
