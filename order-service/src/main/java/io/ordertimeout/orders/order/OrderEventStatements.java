package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.texts;

import io.ordertimeout.orders.order.OrderSettled.Closed;
import io.ordertimeout.orders.order.OrderSettled.Paid;
import io.ordertimeout.orders.suspension.Interruptions;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The statements that store a batch of events: arrays in, rows out, one round trip each.
 *
 * <p>Rows are written in the order of their ids, so that two batches that share orders cannot
 * deadlock. Each statement needs a surrounding transaction. Thread-safe.
 */
@Repository
class OrderEventStatements {

  /**
   * An order as a statement returns it.
   *
   * @param stage its next stage, if it is pending
   * @param isShardKnown whether a record of the order was read from the partition of that number,
   *     and not only a decision restored, of which the partition is a guess
   * @param settledElsewhere whether the payment or closure that settled it is from another
   *     partition
   */
  record Row(
      long id,
      String orderId,
      int shard,
      OrderState state,
      @Nullable Instant createdAt,
      @Nullable Instant deadline,
      @Nullable Instant stage,
      @Nullable DecidedBy decidedBy,
      @Nullable String paymentId,
      @Nullable Amount amount,
      boolean isShardKnown,
      boolean settledElsewhere) {

    boolean isDueBefore(Instant time) {
      return deadline != null && deadline.isBefore(time);
    }

    PendingOrder pending() {
      if (stage == null) {
        throw new IllegalStateException("an order without a deadline cannot be pending: " + id);
      }
      return PendingOrder.of(id, shard, stage);
    }

    /** Whether a policy exempts the order: nothing was to be decided. */
    boolean isExempt() {
      return state == OrderState.CLOSED && decidedBy == null;
    }
  }

  /** SQL condition: the payment or closure that settled the order {@code d} was read. */
  private static final String IS_SETTLED = "(d.payment_id is not null or d.closed_at is not null)";

  /** SQL columns of the order {@code d} that {@link #row} reads. */
  static final String ROW =
      """
      d.id, d.order_id, d.shard, d.state, d.created_at, %s, d.decided_by, d.payment_id,
        d.amount, d.currency, d.created_at is not null or %s as shard_known,
        d.settled_in is not null as settled_elsewhere"""
          .formatted(NextStage.COLUMNS, IS_SETTLED);

  private static final String TERMS =
      "grace_seconds, leads, warned, confirm_seconds, cancel_unconfirmed, ";

  /** Registers orders of which a policy says more than the deadline. */
  private static final String REGISTER =
      register(
          TERMS,
          "d.grace_seconds, d.leads_text::int[], d.warned, d.confirm_seconds, d.cancel_unconfirmed, ",
          ":graces::int[], :leads::text[], :warned::int[], :confirms::int[], :cancelUnconfirmed::boolean[], ",
          TERMS.replace("leads", "leads_text"),
          NextStage.GRACE,
          """
          grace_seconds = excluded.grace_seconds,
              leads = excluded.leads,
              warned = excluded.warned,
              confirm_seconds = excluded.confirm_seconds,
              cancel_unconfirmed = excluded.cancel_unconfirmed,
          """);

  /** Registers orders of which no policy does; the columns of the others are costly. */
  private static final String REGISTER_BY_DEADLINE =
      register("", "", "", "", "make_interval(secs => :graceSeconds)", "");

  private static String register(
      String columns, String values, String arrays, String names, String grace, String changes) {
    return """
        insert into order_deadline as d (
          order_id, shard, state, created_at, deadline, %spolicy, channel,
          payment_method, amount, currency, traceparent, decided_at, decided_by)
        select
          d.order_id, d.shard, case when s.stale or d.deadline is null then 'CLOSED' else 'PENDING' end,
          d.created_at, d.deadline, %sd.policy, d.channel, d.payment_method, d.amount,
          d.currency, d.traceparent,
          case when s.stale or d.deadline is null then clock_timestamp() end,
          case when s.stale then 'STALE' end
        from unnest(
          :orderIds::text[], :shards::int[], :createdAts::timestamptz[], :deadlines::timestamptz[],
          %s:policies::text[], :channels::text[],
          :paymentMethods::text[], :amounts::numeric[], :currencies::text[], :traceparents::text[])
          as d(order_id, shard, created_at, deadline, %spolicy, channel,
            payment_method, amount, currency, traceparent)
        cross join lateral (
          %s d.deadline < now() - make_interval(secs => :staleAfterSeconds)
        ) interrupted
        cross join lateral (
          -- An order in its grace, or with a deadline that an interruption extends, is not stale.
          select d.deadline + %s + interrupted.length
            < now() - make_interval(secs => :staleAfterSeconds) as stale
        ) s
        order by d.order_id
        on conflict (order_id) do update set
          -- The partition of the creation counts, even if the payment or closure came first.
          shard = excluded.shard,
          settled_in = case when %s then nullif(d.shard, excluded.shard) end,
          created_at = excluded.created_at,
          -- That of a restored cancellation, which was published, may have been moved.
          deadline = coalesce(d.deadline, excluded.deadline),
          %spolicy = excluded.policy,
          channel = excluded.channel,
          payment_method = excluded.payment_method,
          amount = excluded.amount,
          currency = excluded.currency,
          traceparent = excluded.traceparent
        where d.created_at is null
        returning %s
        """
        .formatted(
            columns,
            values,
            arrays,
            names,
            Interruptions.BEFORE_REGISTRATION,
            grace,
            IS_SETTLED,
            changes,
            ROW);
  }

  private static final String SETTLE =
      """
      insert into order_deadline as d (
        order_id, shard, state, decided_at, decided_by, payment_id, paid_at, closed_at, close_reason)
      select
        i.order_id, i.shard, i.state, clock_timestamp(), i.decided_by, i.payment_id, i.paid_at,
        i.closed_at, i.close_reason
      from unnest(
        :orderIds::text[], :shards::int[], :states::text[], :decidedBys::text[],
        :paymentIds::text[], :paidAts::timestamptz[], :closedAts::timestamptz[],
        :closeReasons::text[])
        as i(order_id, shard, state, decided_by, payment_id, paid_at, closed_at, close_reason)
      order by i.order_id
      on conflict (order_id) do update set
        state = excluded.state,
        decided_at = excluded.decided_at,
        decided_by = excluded.decided_by,
        payment_id = excluded.payment_id,
        paid_at = excluded.paid_at,
        closed_at = excluded.closed_at,
        close_reason = excluded.close_reason,
        settled_in = nullif(excluded.shard, d.shard)
      where d.state = 'PENDING'
      returning %s
      """
          .formatted(ROW);

  private static final String CLOSE_PURGED =
      """
      update order_deadline d set
        state = 'CLOSED', decided_at = clock_timestamp(), decided_by = 'STALE'
      where d.order_id = any(:orderIds::text[]) and %s
        and d.deadline < %s
      returning %s
      """
          .formatted(PendingOrders.IS_PENDING, PurgeHorizon.SQL, ROW);

  private static final String FIND =
      "select %s from order_deadline d where d.order_id = any(:orderIds::text[])".formatted(ROW);

  private final JdbcClient client;
  private final NextStage nextStage;

  OrderEventStatements(JdbcClient client, NextStage nextStage) {
    this.client = client;
    this.nextStage = nextStage;
  }

  /**
   * Registers orders, each at most once in the list. Returns those that were new or of which only
   * the payment or closure was known; the others stay as they are.
   */
  List<Row> register(Collection<OrderCreated> orders, Duration staleAfter) {
    boolean byDeadline = orders.stream().allMatch(order -> order.terms().isDeadlineOnly());
    return client
        .sql(byDeadline ? REGISTER_BY_DEADLINE : REGISTER)
        .params(nextStage.parameters())
        .param("orderIds", texts(orders, OrderCreated::orderId))
        .param("shards", orders.stream().mapToInt(OrderCreated::shard).toArray())
        .param("createdAts", texts(orders, OrderCreated::createdAt))
        .param("deadlines", texts(orders, o -> o.terms().deadline()))
        .params(byDeadline ? Map.of() : terms(orders, OrderCreated::terms))
        .param("policies", texts(orders, o -> o.terms().policy()))
        .param("channels", texts(orders, OrderCreated::channel))
        .param("paymentMethods", texts(orders, OrderCreated::paymentMethod))
        .params(amounts(orders, OrderCreated::amount))
        .param("traceparents", texts(orders, OrderCreated::traceparent))
        .param("staleAfterSeconds", staleAfter.toMillis() / 1e3)
        .query(this::row)
        .list();
  }

  /**
   * Settles orders, each at most once in the list. Returns those that were pending or unknown; the
   * others stay as they are.
   */
  List<Row> settle(Collection<OrderSettled> events) {
    return client
        .sql(SETTLE)
        .param("orderIds", texts(events, OrderSettled::orderId))
        .param("shards", events.stream().mapToInt(OrderSettled::shard).toArray())
        .param(
            "states", texts(events, e -> e instanceof Paid ? OrderState.PAID : OrderState.CLOSED))
        .param(
            "decidedBys",
            texts(events, e -> e instanceof Paid ? DecidedBy.PAYMENT : DecidedBy.CLOSING))
        .param("paymentIds", texts(events, e -> e instanceof Paid paid ? paid.paymentId() : null))
        .param("paidAts", texts(events, e -> e instanceof Paid paid ? paid.paidAt() : null))
        .param(
            "closedAts", texts(events, e -> e instanceof Closed closed ? closed.closedAt() : null))
        .param(
            "closeReasons", texts(events, e -> e instanceof Closed closed ? closed.reason() : null))
        .query(this::row)
        .list();
  }

  /**
   * Closes those of the newly registered orders as stale that may have been decided and purged
   * before. Needs a snapshot that is later than the registration, so that a purge that is running
   * at the same time is seen.
   */
  List<Row> closePurged(Collection<String> orderIds) {
    return client
        .sql(CLOSE_PURGED)
        .param("orderIds", orderIds.toArray(String[]::new))
        .query(this::row)
        .list();
  }

  /** Returns those of the orders that are known. */
  List<Row> find(Collection<String> orderIds) {
    return client
        .sql(FIND)
        .param("orderIds", orderIds.toArray(String[]::new))
        .query(this::row)
        .list();
  }

  /** Parameters with all of the terms of orders but their deadlines. */
  static <T> Map<String, @Nullable Object> terms(
      Collection<T> orders, Function<T, @Nullable PaymentTerms> terms) {
    Map<String, @Nullable Object> parameters = new HashMap<>();
    parameters.put("graces", of(orders, terms, t -> seconds(t.grace())));
    parameters.put("leads", of(orders, terms, OrderEventStatements::leads));
    parameters.put("warned", of(orders, terms, t -> positive(t.warningsOver())));
    parameters.put("confirms", of(orders, terms, t -> seconds(t.confirm())));
    parameters.put(
        "cancelUnconfirmed", of(orders, terms, t -> t.cancelUnconfirmed() ? true : null));
    return parameters;
  }

  /** Parameters with the amounts of orders. */
  static <T> Map<String, @Nullable Object> amounts(
      Collection<T> orders, Function<T, @Nullable Amount> amount) {
    Map<String, @Nullable Object> parameters = new HashMap<>();
    parameters.put("amounts", of(orders, amount, a -> a.value().toPlainString()));
    parameters.put("currencies", of(orders, amount, Amount::currency));
    return parameters;
  }

  private static <T, P> @Nullable String[] of(
      Collection<T> orders, Function<T, @Nullable P> part, Function<P, @Nullable Object> value) {
    return texts(
        orders,
        order -> {
          P known = part.apply(order);
          return known == null ? null : value.apply(known);
        });
  }

  /** A number of seconds; null for none, which takes no space in a row. */
  private static @Nullable Long seconds(@Nullable Duration length) {
    return length == null || length.isZero() ? null : length.toSeconds();
  }

  /** The times before the deadline as an array in Postgres's notation; null for none. */
  private static @Nullable String leads(PaymentTerms terms) {
    return terms.warnings().isEmpty()
        ? null
        : terms.warnings().stream()
            .map(lead -> Long.toString(lead.toSeconds()))
            .collect(Collectors.joining(",", "{", "}"));
  }

  private static @Nullable Integer positive(int number) {
    return number > 0 ? number : null;
  }

  Row row(ResultSet rs, int rowNumber) throws SQLException {
    Instant deadline = instant(rs, "deadline");
    String decidedBy = rs.getString("decided_by");
    BigDecimal amount = rs.getBigDecimal("amount");
    String currency = rs.getString("currency");
    return new Row(
        rs.getLong("id"),
        rs.getString("order_id"),
        rs.getInt("shard"),
        OrderState.valueOf(rs.getString("state")),
        instant(rs, "created_at"),
        deadline,
        deadline == null ? null : nextStage.of(rs),
        decidedBy == null ? null : DecidedBy.valueOf(decidedBy),
        rs.getString("payment_id"),
        amount == null || currency == null ? null : new Amount(amount, currency),
        rs.getBoolean("shard_known"),
        rs.getBoolean("settled_elsewhere"));
  }
}
