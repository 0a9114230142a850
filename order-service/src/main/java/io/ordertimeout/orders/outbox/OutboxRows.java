package io.ordertimeout.orders.outbox;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import io.ordertimeout.orders.outbox.OutboxEvent.Envelope;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.outbox.OutboxEvent.PaymentConflict;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;

/**
 * The outbox table. The statements that decide insert its rows, and the one that records a
 * publication deletes them; these contain the parts that are defined here.
 */
public final class OutboxRows {

  private static final String CANCELLATION = "ORDER_CANCELLED";
  private static final String CONFLICT = "ORDER_PAYMENT_CONFLICT";

  private static final String COLUMNS =
      """
      id, kind, order_id, payment_id, shard, created_at, deadline, cancelled_at, paid_at,
      traceparent, written_at
      """;

  /**
   * SQL statement: inserts an event for each row of {@code cancelled}, which has the columns of an
   * order, and returns the events as {@link #event} reads them.
   */
  public static final String INSERT_CANCELLED =
      """
      insert into outbox (
        kind, order_row, order_id, shard, created_at, deadline, cancelled_at, traceparent)
      select
        'ORDER_CANCELLED', id, order_id, shard, created_at, deadline, decided_at, traceparent
      from cancelled
      returning %s
      """
          .formatted(COLUMNS);

  /**
   * SQL statement: inserts an event for each row of {@code conflict}, which has the columns that
   * are inserted, and returns the events as {@link #event} reads them.
   */
  public static final String INSERT_CONFLICTS =
      """
      insert into outbox (
        kind, order_id, payment_id, shard, created_at, deadline, cancelled_at, paid_at,
        traceparent)
      select
        'ORDER_PAYMENT_CONFLICT', order_id, payment_id, shard, created_at, deadline, cancelled_at,
        paid_at, traceparent
      from conflict
      returning %s
      """
          .formatted(COLUMNS);

  /**
   * SQL statement: deletes the events of {@code :shards}, {@code :ids}, {@code :kinds}, {@code
   * :orderIds} and {@code :paymentIds}, one by one, and returns their {@code order_row}, {@code
   * order_id}, {@code kind} and {@code payment_id}. Not by the rows' ids alone: a Postgres that has
   * lost commits hands out ids again. An event that was written again meanwhile is published again.
   */
  public static final String DELETE =
      """
      delete from outbox where ctid = any(array(
        select o.version
        from unnest(
          :shards::int[], :ids::bigint[], :kinds::text[], :orderIds::text[], :paymentIds::text[])
          as d(shard, id, kind, order_id, payment_id)
        cross join lateral (
          select ctid as version from outbox o
          where o.shard = d.shard and o.id = d.id
            and o.order_id = d.order_id and o.kind = d.kind and o.payment_id = d.payment_id
          -- Has each event looked up by its row, even where Postgres expects an empty outbox.
          offset 0
        ) o))
      returning order_row, order_id, kind, payment_id
      """;

  /**
   * SQL query: the rows of at most {@code :limit} events of {@code :shards} after {@code
   * :afterShard} and {@code :afterId}, by shard and id, that are older than {@code
   * :olderThanSeconds}; O(limit) by an index.
   */
  public static final String LEFT_BEHIND =
      """
      select * from outbox
      where shard = any(:shards::int[]) and (shard, id) > (:afterShard, :afterId)
        and written_at < clock_timestamp() - make_interval(secs => :olderThanSeconds)
      order by shard, id
      limit :limit
      """;

  private OutboxRows() {}

  /** Reads an event from a row that has all columns of the outbox. */
  public static OutboxEvent event(ResultSet row, int rowNumber) throws SQLException {
    Envelope envelope =
        new Envelope(
            row.getLong("id"),
            row.getString("order_id"),
            row.getInt("shard"),
            row.getString("traceparent"),
            requiredInstant(row, "written_at"));
    String kind = row.getString("kind");
    return switch (kind) {
      case CANCELLATION -> cancelled(envelope, row);
      case CONFLICT ->
          new PaymentConflict(
              envelope,
              row.getString("payment_id"),
              instant(row, "paid_at"),
              instant(row, "deadline"),
              instant(row, "cancelled_at"));
      default -> throw new IllegalStateException("unknown kind of outbox row: " + kind);
    };
  }

  /** Reads the cancellations that {@link #INSERT_CANCELLED} returns. */
  public static OrderCancelled cancelled(ResultSet row, int rowNumber) throws SQLException {
    return (OrderCancelled) event(row, rowNumber);
  }

  private static OrderCancelled cancelled(Envelope envelope, ResultSet row) throws SQLException {
    return new OrderCancelled(
        envelope,
        instant(row, "created_at"),
        requiredInstant(row, "deadline"),
        requiredInstant(row, "cancelled_at"));
  }

  /** Returns the kinds of the events, in their order. */
  public static String[] kinds(Collection<? extends OutboxEvent> events) {
    return events.stream()
        .map(event -> event instanceof PaymentConflict ? CONFLICT : CANCELLATION)
        .toArray(String[]::new);
  }

  /** Returns the orders of the events, in their order. */
  public static String[] orderIds(Collection<? extends OutboxEvent> events) {
    return events.stream().map(OutboxEvent::orderId).toArray(String[]::new);
  }

  /** Returns the payments of the events, in their order; empty for a cancellation. */
  public static String[] paymentIds(Collection<? extends OutboxEvent> events) {
    return events.stream()
        .map(event -> event instanceof PaymentConflict conflict ? conflict.paymentId() : "")
        .toArray(String[]::new);
  }
}
