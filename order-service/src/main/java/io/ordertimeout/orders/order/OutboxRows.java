package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.Envelope;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderExpiring;
import io.ordertimeout.orders.outbox.OutboxEvent.PaymentConflict;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/**
 * SQL with which the statements that decide write their events, and from which events are read. A
 * row of the outbox has the key of its order's row and of a payment, or the number of a warning;
 * all else that an event says is in the order's row.
 */
final class OutboxRows {

  /** What an event says of its order {@code d}; columns that {@link #event} reads. */
  static final String OF_ORDER =
      """
      d.order_id, d.created_at, d.deadline,
      case when d.state = 'CANCELLED' then d.decided_at end as cancelled_at, d.traceparent""";

  /**
   * The end of a statement: writes an event for each row of {@code cancelled}, which has the
   * columns of an order, and returns the events as {@link #cancelled} reads them.
   */
  static final String INSERT_CANCELLED =
      """
      , written as (
        insert into outbox (order_row, shard, written_at, due_at)
        select id, shard, decided_at, due_at from cancelled
      )
      select
        id as order_row, order_id, shard, created_at, deadline, due_at,
        decided_at as cancelled_at, traceparent, decided_at as written_at
      from cancelled
      """;

  /** SQL expression: the payment's place of the warning with that number. */
  private static final String WARNING_KEY = "E'\\x01' || warned";

  /** SQL condition: the row {@code o} of the outbox is a conflict. */
  static final String IS_CONFLICT = "o.payment_id >= E'\\x02'";

  /** SQL condition: the row {@code o} of the outbox is a conflict that nobody has ended. */
  static final String IS_OPEN_CONFLICT = IS_CONFLICT + " and o.resolved_at is null";

  /** SQL expression: the number of the warning in the row {@code o}; null if it is none. */
  static final String WARNING =
      "case when o.payment_id between E'\\x01' and E'\\x02' then substr(o.payment_id, 2)::int end";

  /**
   * The end of a statement: writes an event for each row of {@code warned}, which has the columns
   * of an order, unless its deadline has passed, and returns the events as {@link #expiring} reads
   * them.
   */
  static final String INSERT_EXPIRING =
      """
      , written as (
        insert into outbox (order_row, payment_id, shard, written_at)
        select id, %s, shard, written_at from warned where deadline > written_at
        on conflict do nothing
      )
      select
        id as order_row, order_id, shard, created_at, deadline, warned as warning,
        leads[warned] as lead_seconds,
        case when warned = cardinality(leads)
          then deadline + make_interval(secs => confirm_seconds) end as confirm_by,
        traceparent, written_at
      from warned
      where deadline > written_at
      """
          .formatted(WARNING_KEY);

  private OutboxRows() {}

  /** Reads an event of any kind; a warning needs more columns. */
  static OutboxEvent event(ResultSet row, int rowNumber) throws SQLException {
    String paymentId = row.getString("payment_id");
    if (paymentId.startsWith(OutboxEvent.WARNING_MARK)) {
      return expiring(row, rowNumber);
    }
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
        requiredInstant(row, "due_at"),
        requiredInstant(row, "cancelled_at"));
  }

  /** Reads a warning. */
  static OrderExpiring expiring(ResultSet row, int rowNumber) throws SQLException {
    return new OrderExpiring(
        envelope(row),
        row.getInt("warning"),
        Duration.ofSeconds(row.getLong("lead_seconds")),
        instant(row, "created_at"),
        requiredInstant(row, "deadline"),
        instant(row, "confirm_by"));
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
