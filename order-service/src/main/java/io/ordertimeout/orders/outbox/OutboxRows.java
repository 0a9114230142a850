package io.ordertimeout.orders.outbox;

import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/** The outbox table. Rows come into it by the statements that decide. Thread-safe. */
@Repository
public class OutboxRows {

  private static final String LEFT_BEHIND =
      """
      select
        id, kind, order_id, payment_id, shard, created_at, deadline, cancelled_at, paid_at,
        traceparent, written_at
      from outbox
      where shard = any(?::int[]) and written_at < clock_timestamp() - make_interval(secs => ?)
      order by id
      limit ?
      """;

  private static final String DELETE =
      """
      with published as (
        delete from outbox o
        using unnest(?::int[], ?::bigint[]) as d(shard, id)
        where o.shard = d.shard and o.id = d.id
        returning o.order_id, o.kind, o.payment_id
      ), conflict as (
        update payment_conflict c set published_at = clock_timestamp()
        from published p
        where p.kind = 'ORDER_PAYMENT_CONFLICT'
          and c.order_id = p.order_id and c.payment_id = p.payment_id
      ), cancelled as (
        update order_deadline d set published_at = clock_timestamp()
        from published p
        where p.kind = 'ORDER_CANCELLED' and d.order_id = p.order_id
        returning d.currency, d.amount
      )
      select currency, sum(amount) as amount from cancelled
      where currency is not null and amount is not null
      group by currency
      """;

  private static final String COUNT = "select count(*) from outbox where shard = any(?::int[])";

  private final JdbcTemplate jdbc;

  OutboxRows(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Reads an event from a row that has all columns of the outbox. */
  public static OutboxEvent event(ResultSet rs, int rowNumber) throws SQLException {
    return new OutboxEvent(
        rs.getLong("id"),
        OutboxEvent.Kind.valueOf(rs.getString("kind")),
        rs.getString("order_id"),
        rs.getString("payment_id"),
        rs.getInt("shard"),
        instant(rs, "created_at"),
        instant(rs, "deadline"),
        instant(rs, "cancelled_at"),
        instant(rs, "paid_at"),
        rs.getString("traceparent"),
        Objects.requireNonNull(instant(rs, "written_at")));
  }

  /** At most {@code limit} rows of those shards that are older than the grace, oldest first. */
  public List<OutboxEvent> leftBehind(Set<Integer> shards, double graceSeconds, int limit) {
    return jdbc.query(LEFT_BEHIND, OutboxRows::event, array(shards), graceSeconds, limit);
  }

  /**
   * Deletes published rows and notes the time with their orders; returns the amounts of the
   * cancelled ones, by currency.
   */
  public Map<String, BigDecimal> delete(Collection<OutboxEvent> published) {
    Map<String, BigDecimal> amounts = new HashMap<>();
    jdbc.query(
        DELETE,
        rs -> {
          amounts.put(rs.getString("currency"), rs.getBigDecimal("amount"));
        },
        published.stream().mapToInt(OutboxEvent::shard).toArray(),
        published.stream().mapToLong(OutboxEvent::id).toArray());
    return amounts;
  }

  /** How many rows of those shards wait. */
  public long count(Set<Integer> shards) {
    return Objects.requireNonNull(jdbc.queryForObject(COUNT, Long.class, (Object) array(shards)));
  }

  private static int[] array(Set<Integer> shards) {
    return shards.stream().mapToInt(Integer::intValue).toArray();
  }

  private static @Nullable Instant instant(ResultSet rs, String column) throws SQLException {
    OffsetDateTime time = rs.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }
}
