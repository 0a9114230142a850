package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * A sample of the orders that were settled within a time: a few of each of many parts of it, so
 * that it costs the same however many there are. Thread-safe.
 */
@Repository
public class SettledOrderSample {

  /** Into how many parts a time is divided. */
  static final int PARTS = 500;

  /** How many orders of a part are read. */
  static final int OF_PART = 6;

  /**
   * A settled order of the sample.
   *
   * @param weight for how many orders it stands
   * @param isPaid whether it was paid before anything else was decided
   * @param isCancelled whether it was cancelled
   * @param paidAt when it was paid; for a cancelled order, when it was so too late; null if never
   * @param amount what was to be paid; null if it is not known
   */
  public record Settled(
      double weight,
      boolean isPaid,
      boolean isCancelled,
      Instant createdAt,
      Instant deadline,
      @Nullable Instant paidAt,
      @Nullable Amount amount) {}

  /** An order with its part of the time, and where it is in it, from 0 to 1. */
  private record InPart(int part, double at, boolean isWanted, Settled order) {}

  // By the index for the purge, as the shares of cancellations.
  private static final String SAMPLE =
      """
      select p.part, d.state, d.created_at, d.deadline, d.amount, d.currency,
        case when d.state = 'CANCELLED' then (
          select min(o.paid_at) from outbox o where o.order_row = d.id and %s
        ) else d.paid_at end as paid_at,
        extract(epoch from d.settled_at - p.began_at) / :seconds as at,
        d.created_at is not null and (d.decided_by <> 'STALE') is true
          and (:channel::text is null or lower(d.channel) = lower(:channel))
          and (:paymentMethod::text is null or lower(d.payment_method) = lower(:paymentMethod))
          as wanted
      from (
        select part, :from::timestamptz + make_interval(secs => part * :seconds) as began_at
        from generate_series(0, :parts - 1) as part
      ) p
      cross join lateral (
        select o.*, greatest(o.decided_at, o.deadline, o.latest_deadline) as settled_at
        from order_deadline o
        where o.state <> 'PENDING' and o.deadline is not null
          and greatest(o.decided_at, o.deadline, o.latest_deadline) >= p.began_at
          and greatest(o.decided_at, o.deadline, o.latest_deadline)
            < p.began_at + make_interval(secs => :seconds)
        order by greatest(o.decided_at, o.deadline, o.latest_deadline)
        limit :limit
      ) d
      order by p.part, d.settled_at
      """
          .formatted(OutboxRows.IS_CONFLICT);

  private final JdbcClient client;

  SettledOrderSample(JdbcClient client) {
    this.client = client;
  }

  /**
   * Reads a sample.
   *
   * @param channel the channel of the orders; null for any
   * @param paymentMethod their payment method; null for any
   */
  public List<Settled> read(
      Instant from, Instant to, @Nullable String channel, @Nullable String paymentMethod) {
    double seconds = Duration.between(from, to).toMillis() / 1e3 / PARTS;
    List<InPart> read =
        client
            .sql(SAMPLE)
            .param("from", parameter(from))
            .param("seconds", seconds)
            .param("parts", PARTS)
            .param("limit", OF_PART)
            .param("channel", channel)
            .param("paymentMethod", paymentMethod)
            .query(
                (row, number) -> {
                  String state = row.getString("state");
                  BigDecimal amount = row.getBigDecimal("amount");
                  boolean isWanted = row.getBoolean("wanted");
                  Instant deadline = requiredInstant(row, "deadline");
                  Instant createdAt = instant(row, "created_at");
                  return new InPart(
                      row.getInt("part"),
                      row.getDouble("at"),
                      isWanted,
                      new Settled(
                          1,
                          state.equals("PAID"),
                          state.equals("CANCELLED"),
                          createdAt == null ? deadline : createdAt,
                          deadline,
                          instant(row, "paid_at"),
                          amount == null ? null : new Amount(amount, row.getString("currency"))));
                })
            .list();
    return weighted(read);
  }

  /**
   * Weighs each order. A part of which fewer were read than the limit was read entirely. Otherwise,
   * its number follows from how far into the part the last of them is: of <i>k</i> events of a
   * Poisson process, the <i>k</i>-th at time <i>t</i>, (<i>k</i> - 1) / <i>t</i> is an unbiased
   * estimate of the rate.
   */
  private static List<Settled> weighted(List<InPart> read) {
    List<Settled> weighted = new ArrayList<>();
    int begin = 0;
    for (int i = 0; i < read.size(); i++) {
      if (i + 1 == read.size() || read.get(i + 1).part != read.get(i).part) {
        int count = i + 1 - begin;
        double last = Math.max(read.get(i).at, 1e-9);
        double weight = count < OF_PART ? 1 : Math.max(1, (count - 1) / last / count);
        for (InPart each : read.subList(begin, i + 1)) {
          if (each.isWanted) {
            Settled order = each.order;
            weighted.add(
                new Settled(
                    weight,
                    order.isPaid,
                    order.isCancelled,
                    order.createdAt,
                    order.deadline,
                    order.paidAt,
                    order.amount));
          }
        }
        begin = i + 1;
      }
    }
    return weighted;
  }
}
