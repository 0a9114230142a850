package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.Envelope;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.outbox.OutboxEvent.PaymentConflict;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * SQL with which the statements that decide write their events, and from which events are read. A
 * row of the outbox has the key of its order's row and of a payment; all else that an event says is
 * in the order's row.
 */
final class OutboxRows {

  /** What an event says of its order {@code d}; columns that {@link #event} reads. */
  static final String OF_ORDER =
      """
      d.order_id, d.created_at, d.deadline, d.grace_seconds,
      case when d.state = 'CANCELLED' then d.decided_at end as cancelled_at, d.traceparent""";

  /**
   * The end of a statement: writes an event for each row of {@code cancelled}, which has the
   * columns of an order, and returns the events as {@link #cancelled} reads them.
   */
  static final String INSERT_CANCELLED =
      """
      , written as (
        insert into outbox (order_row, shard, written_at, held_until)
        select id, shard, decided_at, held_until from cancelled
      )
      select
        id as order_row, order_id, shard, created_at, deadline, grace_seconds, held_until,
        decided_at as cancelled_at, traceparent, decided_at as written_at
      from cancelled
      """;

  private OutboxRows() {}

  /** Reads an event of either kind. */
  static OutboxEvent event(ResultSet row, int rowNumber) throws SQLException {
    String paymentId = row.getString("payment_id");
    return paymentId.isEmpty()
        ? cancelled(row, rowNumber)
        : new PaymentConflict(
            envelope(row),
            paymentId,
            instant(row, "paid_at"),
            instant(row, "deadline"),
            instant(row, "cancelled_at"));
  }

  /** Reads a cancellation. */
  static OrderCancelled cancelled(ResultSet row, int rowNumber) throws SQLException {
    return new OrderCancelled(
        envelope(row),
        instant(row, "created_at"),
        requiredInstant(row, "deadline"),
        NextStage.grace(row),
        instant(row, "held_until"),
        requiredInstant(row, "cancelled_at"));
  }

  private static Envelope envelope(ResultSet row) throws SQLException {
    return new Envelope(
        row.getLong("order_row"),
        row.getString("order_id"),
        row.getInt("shard"),
        row.getString("traceparent"),
        requiredInstant(row, "written_at"));
  }
}
