package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;

import io.ordertimeout.orders.suspension.ParkedOrders;
import io.ordertimeout.orders.suspension.PaymentAttempts;
import io.ordertimeout.orders.suspension.SuspensionConditions;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The due orders that pauses and holds keep from being decided, in all shards, owned or not,
 * without parked ones and those of which a payment is under way. Thread-safe.
 */
@Repository
public class PastDueOrders {

  /**
   * Orders, how many there are and what they amount to.
   *
   * @param orders how many there are, or at least are
   * @param complete whether all of them are counted
   * @param amounts their amounts by currency
   * @param earliest the earliest of their deadlines; null if there are none
   */
  public record Total(
      long orders, boolean complete, Map<String, BigDecimal> amounts, @Nullable Instant earliest) {

    /** No orders. */
    public static final Total NONE = new Total(0, true, Map.of(), null);
  }

  /**
   * What the end of a pause does to the orders that it keeps from being decided.
   *
   * @param cancelled those that are cancelled at once, unless a payment is found
   * @param moved those whose deadlines move; {@code earliest} is the earliest new deadline if the
   *     pause ended now
   * @param suspended those that another pause or a hold still keeps from being decided
   */
  public record EndOfPause(Total cancelled, Total moved, Total suspended) {}

  /** How many orders of each shard are counted, of the oldest and of the newest. */
  public static final int WINDOW = 2_000;

  // As in PendingOrderStatistics: windows are read from the ends of a shard's part of an index.
  private static final String PAST_DUE =
      """
      generate_series(
        0, (select max(shard) from order_deadline where state = 'PENDING')) as s(shard)
      cross join lateral (
        select w.*, count(*) over () > :window as incomplete from (%s union %s) w) d
      """
          .formatted(window("asc"), window("desc"));

  private static final String IS_SUSPENDED =
      "exists (select from in_force s where %s)".formatted(SuspensionConditions.CONCERNS);

  // Costs nothing while nothing is suspended.
  private static final String SUSPENDED =
      """
      with in_force as materialized (%s), past_due as (
        select 'SUSPENDED' as fate, d.currency, d.amount, d.deadline, d.incomplete
        from %s
        where exists (select from in_force) and %s and %s and %%s
      )
      """
          .formatted(
              SuspensionConditions.IN_FORCE, PAST_DUE, IS_SUSPENDED, ParkedOrders.NOT_PARKED);

  // An order that was due before the pause began had its whole time; its deadline does not move.
  private static final String END_OF_PAUSE =
      """
      with ended as materialized (%s), in_force as materialized (%s), past_due as (
        select
          case
            when %s then 'SUSPENDED'
            when e.moves_deadlines and e.began_at < d.deadline then 'MOVED'
            else 'CANCELLED'
          end as fate,
          d.currency, d.amount,
          case when e.moves_deadlines and e.began_at < d.deadline
            then d.deadline + (now() - greatest(e.began_at, d.created_at))
            else d.deadline
          end as deadline,
          d.incomplete
        from ended e cross join %s
        where (e.channel is null or e.channel = d.channel) and %s and %%s
      )
      """
          .formatted(
              SuspensionConditions.PAUSE,
              SuspensionConditions.OTHERS_IN_FORCE,
              IS_SUSPENDED,
              PAST_DUE,
              ParkedOrders.NOT_PARKED);

  private static final String TOTALS =
      """
      select fate, currency, count(*) as orders, coalesce(sum(amount), 0) as amount,
        min(deadline) as earliest, bool_or(incomplete) as incomplete
      from past_due
      group by fate, currency
      """;

  private record Row(
      String fate,
      @Nullable String currency,
      long orders,
      BigDecimal amount,
      @Nullable Instant earliest,
      boolean incomplete) {}

  private final JdbcClient client;
  private final PaymentAttempts attempts;
  private final NextStage nextStage;
  private final String isDue;

  PastDueOrders(JdbcClient client, PaymentAttempts attempts, NextStage nextStage) {
    this.client = client;
    this.attempts = attempts;
    this.nextStage = nextStage;
    this.isDue =
        "d.deadline + %s < now()%s".formatted(NextStage.GRACE, attempts.andNoneUnderWay("now()"));
  }

  private static String window(String direction) {
    return """
    (
      select o.order_id, o.shard, o.channel, o.created_at, o.deadline, o.grace_seconds, o.confirm_seconds,
        o.currency, o.amount
      from order_deadline o
      where o.shard = s.shard and o.state = 'PENDING' and o.deadline < now()
      order by o.deadline %s, o.id %s
      limit :window
    )"""
        .formatted(direction, direction);
  }

  /** Counts the orders that pauses and holds keep from being decided. */
  public Total suspended() {
    return total(totals(client.sql(SUSPENDED.formatted(isDue) + TOTALS)), row -> true);
  }

  /** Counts the orders that the end of a pause would concern. */
  public EndOfPause endOfPause(long pause) {
    List<Row> rows =
        totals(client.sql(END_OF_PAUSE.formatted(isDue) + TOTALS).param("pause", pause));
    return new EndOfPause(
        total(rows, row -> row.fate.equals("CANCELLED")),
        total(rows, row -> row.fate.equals("MOVED")),
        total(rows, row -> row.fate.equals("SUSPENDED")));
  }

  private List<Row> totals(JdbcClient.StatementSpec statement) {
    return statement
        .params(nextStage.parameters())
        .params(attempts.parameters())
        .param("window", WINDOW)
        .query(PastDueOrders::row)
        .list();
  }

  private static Row row(ResultSet row, int rowNumber) throws SQLException {
    return new Row(
        row.getString("fate"),
        row.getString("currency"),
        row.getLong("orders"),
        row.getBigDecimal("amount"),
        instant(row, "earliest"),
        row.getBoolean("incomplete"));
  }

  private static Total total(List<Row> rows, Predicate<Row> wanted) {
    long orders = 0;
    boolean complete = true;
    Map<String, BigDecimal> amounts = new TreeMap<>();
    Instant earliest = null;
    for (Row row : rows) {
      if (wanted.test(row)) {
        orders += row.orders;
        complete &= !row.incomplete;
        if (row.currency != null) {
          amounts.merge(row.currency, row.amount, BigDecimal::add);
        }
        if (earliest == null || (row.earliest != null && row.earliest.isBefore(earliest))) {
          earliest = row.earliest;
        }
      }
    }
    return new Total(orders, complete, amounts, earliest);
  }
}
