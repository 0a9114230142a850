package io.ordertimeout.orders.deadline;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxRows;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/**
 * The statements that write a batch of events: arrays in, rows out, one round trip each.
 *
 * <p>Rows are written in the order of their ids, so that two batches that share orders cannot
 * deadlock. Each needs a surrounding transaction.
 */
@Repository
class OrderEventStatements {

  /** An order as a statement returned it. */
  record Row(
      long id,
      String orderId,
      int shard,
      OrderState state,
      @Nullable Instant createdAt,
      @Nullable Instant deadline,
      @Nullable DecidedBy decidedBy,
      @Nullable String paymentId,
      @Nullable Amount amount) {

    PendingOrder pending() {
      if (deadline == null) {
        throw new IllegalStateException("an order without a deadline cannot be pending: " + id);
      }
      return PendingOrder.of(id, shard, deadline);
    }
  }

  private static final String REGISTER =
      """
      insert into order_deadline as d (
        order_id, shard, state, created_at, deadline, policy, channel, payment_method, amount,
        currency, traceparent, decided_at, decided_by)
      select
        i.order_id, i.shard, case when s.stale then 'CLOSED' else 'PENDING' end, i.created_at,
        i.deadline, i.policy, i.channel, i.payment_method, i.amount, i.currency, i.traceparent,
        case when s.stale then clock_timestamp() end, case when s.stale then 'STALE' end
      from unnest(
        ?::text[], ?::int[], ?::timestamptz[], ?::timestamptz[], ?::text[], ?::text[], ?::text[],
        ?::numeric[], ?::text[], ?::text[])
        as i(order_id, shard, created_at, deadline, policy, channel, payment_method, amount,
          currency, traceparent)
      cross join lateral (
        -- What an interruption extends is not stale.
        select i.deadline + coalesce(sum(o.ended_at - greatest(o.began_at, i.created_at)), '0')
        from interruption o
        where (o.shard is null or o.shard = i.shard)
          and (o.channel is null or o.channel = i.channel)
          and o.ended_at > i.created_at and o.began_at < i.deadline
      ) e(deadline)
      cross join lateral (
        select e.deadline < now() - make_interval(secs => ?) as stale
      ) s
      order by i.order_id
      on conflict (order_id) do update set
        created_at = excluded.created_at,
        deadline = excluded.deadline,
        policy = excluded.policy,
        channel = excluded.channel,
        payment_method = excluded.payment_method,
        amount = excluded.amount,
        currency = excluded.currency,
        traceparent = excluded.traceparent
      where d.created_at is null
      returning
        d.id, d.order_id, d.shard, d.state, d.created_at, d.deadline, d.decided_by, d.payment_id,
        d.amount, d.currency
      """;

  private static final String SETTLE =
      """
      insert into order_deadline as d (
        order_id, shard, state, decided_at, decided_by, payment_id, paid_at, closed_at, close_reason)
      select
        i.order_id, i.shard, i.state, clock_timestamp(), i.decided_by, i.payment_id, i.paid_at,
        i.closed_at, i.close_reason
      from unnest(
        ?::text[], ?::int[], ?::text[], ?::text[], ?::text[], ?::timestamptz[], ?::timestamptz[],
        ?::text[])
        as i(order_id, shard, state, decided_by, payment_id, paid_at, closed_at, close_reason)
      order by i.order_id
      on conflict (order_id) do update set
        state = excluded.state,
        decided_at = excluded.decided_at,
        decided_by = excluded.decided_by,
        payment_id = excluded.payment_id,
        paid_at = excluded.paid_at,
        closed_at = excluded.closed_at,
        close_reason = excluded.close_reason
      where d.state = 'PENDING'
      returning
        d.id, d.order_id, d.shard, d.state, d.created_at, d.deadline, d.decided_by, d.payment_id,
        d.amount, d.currency
      """;

  private static final String FIND =
      """
      select
        id, order_id, shard, state, created_at, deadline, decided_by, payment_id, amount, currency
      from order_deadline
      where order_id = any(?::text[])
      """;

  private static final String RAISE_CONFLICTS =
      """
      with incoming as (
        select distinct on (order_id, payment_id) order_id, payment_id, paid_at
        from unnest(?::text[], ?::text[], ?::timestamptz[]) as i(order_id, payment_id, paid_at)
        order by order_id, payment_id
      ), fresh as (
        insert into payment_conflict (order_id, payment_id, paid_at)
        select order_id, payment_id, paid_at from incoming
        on conflict do nothing
        returning order_id, payment_id, paid_at
      )
      insert into outbox (
        kind, order_id, payment_id, shard, created_at, deadline, cancelled_at, paid_at,
        traceparent)
      select
        'ORDER_PAYMENT_CONFLICT', d.order_id, f.payment_id, d.shard, d.created_at, d.deadline,
        case when d.state = 'CANCELLED' then d.decided_at end, f.paid_at, d.traceparent
      from fresh f join order_deadline d on d.order_id = f.order_id
      returning
        id, kind, order_id, payment_id, shard, created_at, deadline, cancelled_at, paid_at,
        traceparent, written_at
      """;

  private final JdbcTemplate jdbc;

  OrderEventStatements(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /**
   * Registers orders, each at most once in the list. Returns those that were new or of which only
   * the payment or closing was known; the others stay as they are.
   */
  List<Row> register(Collection<OrderCreated> orders, Duration staleAfter) {
    return jdbc.query(
        REGISTER,
        OrderEventStatements::row,
        texts(orders, OrderCreated::orderId),
        orders.stream().mapToInt(OrderCreated::shard).toArray(),
        texts(orders, OrderCreated::createdAt),
        texts(orders, OrderCreated::deadline),
        texts(orders, OrderCreated::policy),
        texts(orders, OrderCreated::channel),
        texts(orders, OrderCreated::paymentMethod),
        texts(orders, o -> o.amount() == null ? null : o.amount().value().toPlainString()),
        texts(orders, o -> o.amount() == null ? null : o.amount().currency()),
        texts(orders, OrderCreated::traceparent),
        staleAfter.toMillis() / 1e3);
  }

  /**
   * Settles orders, each at most once in the list. Returns those that were pending or unknown; the
   * others stay as they are.
   */
  List<Row> settle(Collection<OrderSettled> events) {
    return jdbc.query(
        SETTLE,
        OrderEventStatements::row,
        texts(events, OrderSettled::orderId),
        events.stream().mapToInt(OrderSettled::shard).toArray(),
        texts(events, e -> e instanceof OrderSettled.Paid ? OrderState.PAID : OrderState.CLOSED),
        texts(events, e -> e instanceof OrderSettled.Paid ? DecidedBy.PAYMENT : DecidedBy.CLOSING),
        texts(events, e -> e instanceof OrderSettled.Paid paid ? paid.paymentId() : null),
        texts(events, e -> e instanceof OrderSettled.Paid paid ? paid.paidAt() : null),
        texts(events, e -> e instanceof OrderSettled.Closed closed ? closed.closedAt() : null),
        texts(events, e -> e instanceof OrderSettled.Closed closed ? closed.reason() : null));
  }

  /** The orders of those ids that are known. */
  List<Row> find(Collection<String> orderIds) {
    return jdbc.query(FIND, OrderEventStatements::row, (Object) orderIds.toArray(String[]::new));
  }

  /** Writes one conflict a payment to the outbox; returns those not written before. */
  List<OutboxEvent> raiseConflicts(Collection<OrderSettled.Paid> payments) {
    return jdbc.query(
        RAISE_CONFLICTS,
        OutboxRows::event,
        texts(payments, OrderSettled.Paid::orderId),
        texts(payments, OrderSettled.Paid::paymentId),
        texts(payments, OrderSettled.Paid::paidAt));
  }

  private static <T> @Nullable String[] texts(
      Collection<? extends T> items, Function<T, @Nullable Object> value) {
    @Nullable String[] texts = new @Nullable String[items.size()];
    int i = 0;
    for (T item : items) {
      Object v = value.apply(item);
      texts[i++] = v == null ? null : v.toString();
    }
    return texts;
  }

  private static Row row(ResultSet rs, int rowNumber) throws SQLException {
    String decidedBy = rs.getString("decided_by");
    BigDecimal amount = rs.getBigDecimal("amount");
    String currency = rs.getString("currency");
    return new Row(
        rs.getLong("id"),
        rs.getString("order_id"),
        rs.getInt("shard"),
        OrderState.valueOf(rs.getString("state")),
        instant(rs, "created_at"),
        instant(rs, "deadline"),
        decidedBy == null ? null : DecidedBy.valueOf(decidedBy),
        rs.getString("payment_id"),
        amount == null || currency == null ? null : new Amount(amount, currency));
  }

  private static @Nullable Instant instant(ResultSet rs, String column) throws SQLException {
    OffsetDateTime time = rs.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }
}
