package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.texts;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.OrderEventStatements.Row;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The changes of orders. Each is stored, and then made; that of an order that is not known waits
 * for its creation, and that of a decided order is never made. Statements that write need a
 * surrounding transaction. Thread-safe.
 */
@Repository
public class OrderChanges {

  /**
   * A change that was made.
   *
   * @param madeAt when; the same for those that were made together
   * @param changedAt when the shop changed it
   * @param setBy what sets the deadline since; null if it does not state that
   * @param channel null if it does not state it
   * @param paymentMethod null if it does not state it
   * @param amount null if it does not state it
   * @param deadlineBefore the order's deadline before
   * @param deadlineAfter the order's deadline after
   * @param extendedUntilBefore the end of the last interruption or change that had moved its
   *     deadline before; null if there was none
   */
  public record Made(
      Instant madeAt,
      Instant changedAt,
      @Nullable String setBy,
      @Nullable String channel,
      @Nullable String paymentMethod,
      @Nullable Amount amount,
      Instant deadlineBefore,
      Instant deadlineAfter,
      @Nullable Instant extendedUntilBefore) {}

  private static final String STORE =
      """
      insert into order_change (
        order_id, changed_at, deadline, set_by, has_policy, grace_seconds, leads, warned,
        confirm_seconds, cancel_unconfirmed, channel, payment_method, amount, currency)
      select
        order_id, changed_at, deadline, set_by, has_policy, grace_seconds, leads::int[], warned,
        confirm_seconds, cancel_unconfirmed, channel, payment_method, amount, currency
      from unnest(
        :orderIds::text[], :changedAts::timestamptz[], :deadlines::timestamptz[], :setBys::text[],
        :havePolicies::boolean[], :graces::int[], :leads::text[], :warned::int[],
        :confirms::int[], :cancelUnconfirmed::boolean[], :channels::text[],
        :paymentMethods::text[], :amounts::numeric[], :currencies::text[])
        with ordinality as i(
          order_id, changed_at, deadline, set_by, has_policy, grace_seconds, leads, warned,
          confirm_seconds, cancel_unconfirmed, channel, payment_method, amount, currency, number)
      order by number
      """;

  // A transaction that registers one of the orders at the same time either commits before these
  // rows can be inserted, so that the order is found afterwards, or waits, and then finds the
  // changes.
  private static final String LOCK_UNKNOWN =
      """
      insert into order_deadline (order_id, shard, state, decided_at, decided_by)
      select order_id, -1, 'CLOSED', clock_timestamp(), 'CLOSING'
      from unnest(:orderIds::text[]) as u(order_id)
      order by order_id
      on conflict do nothing
      returning id
      """;

  private static final String DELETE_LOCKS =
      "delete from order_deadline where id = any(:ids::bigint[])";

  /** SQL expression: what the last change states that states it. */
  private static final String LAST =
      "(array_agg(%s order by stored.id desc) filter (where %s is not null))[1] as %1$s";

  private static final String MAKE =
      """
      with change as (
        select order_id, %s, %s, %s, %s, %s, %s,
          (array_agg(changed_at order by stored.id desc) filter (where deadline is not null))[1]
            as changed_at,
          max(stored.id) filter (where has_policy) as with_policy
        from unnest(:orderIds::text[]) as given(id)
        -- One lookup each, by the index, even before the table is analysed.
        cross join lateral (
          select * from order_change o where o.order_id = given.id and (o.made_at is null) is true
          offset 0
        ) stored
        group by order_id
      ), before as (
        select d.id, d.order_id, d.deadline, d.extended_until
        from order_deadline d join change c on c.order_id = d.order_id
        -- By the index, however many orders there are.
        where d.order_id = any(array(select order_id from change))
          and ((d.state = 'PENDING') is true
            or (d.order_id = any(:stale::text[]) and c.deadline > clock_timestamp()))
        order by d.order_id
        for update of d
      ), changed as (
        update order_deadline d set
          state = 'PENDING', decided_at = null, decided_by = null,
          deadline = coalesce(c.deadline, d.deadline),
          policy = coalesce(c.set_by, d.policy),
          -- Interruptions since then move the new deadline, too.
          extended_until = case when c.deadline is null then d.extended_until
            else least(c.changed_at, clock_timestamp()) end,
          latest_deadline = case when c.deadline is null then d.latest_deadline
            else greatest(d.deadline, d.latest_deadline) end,
          grace_seconds = case when p.id is null then d.grace_seconds else p.grace_seconds end,
          -- The numbers of warnings go on behind those that are over.
          leads = case when p.id is null then d.leads
            else nullif(d.leads[: coalesce(d.warned, 0)] || p.leads, '{}') end,
          warned = case when p.id is null then d.warned
            else nullif(coalesce(d.warned, 0) + coalesce(p.warned, 0), 0) end,
          confirm_seconds =
            case when p.id is null then d.confirm_seconds else p.confirm_seconds end,
          cancel_unconfirmed =
            case when p.id is null then d.cancel_unconfirmed else p.cancel_unconfirmed end,
          channel = coalesce(c.channel, d.channel),
          payment_method = coalesce(c.payment_method, d.payment_method),
          amount = coalesce(c.amount, d.amount),
          currency = coalesce(c.currency, d.currency)
        from before b
          join change c on c.order_id = b.order_id
          left join lateral (
            select * from order_change where id = c.with_policy offset 0
          ) p on true
        where d.id = any(array(select id from before)) and d.id = b.id
        returning %s, b.deadline as deadline_before, b.extended_until as extended_until_before
      ), made as (
        update order_change m set
          made_at = statement_timestamp(), deadline_before = d.deadline_before,
          deadline_after = d.deadline, extended_until_before = d.extended_until_before
        from changed d
        where m.order_id = any(array(select order_id from changed)) and m.order_id = d.order_id
          and (m.made_at is null) is true
      )
      select * from changed
      """
          .formatted(
              last("deadline"),
              last("set_by"),
              last("channel"),
              last("payment_method"),
              last("amount"),
              last("currency"),
              OrderEventStatements.ROW);

  private static final String MADE =
      """
      select * from (
        select * from order_change
        where order_id = ? and made_at is not null
        order by id desc
        limit 100
      ) latest
      order by id
      """;

  private static final String DELETE =
      "delete from order_change where order_id = any(:orderIds::text[])";

  private static final String PURGE =
      """
      delete from order_change where id = any(array(
        select id from order_change c where made_at is null and stored_at < :before and %s
        order by stored_at limit 5000))
      """;

  private final JdbcClient client;
  private final OrderEventStatements statements;
  private final boolean areRead;

  OrderChanges(
      JdbcClient client, OrderEventStatements statements, OrderTimeoutProperties properties) {
    this.client = client;
    this.statements = statements;
    this.areRead = properties.topics().haveChanges();
  }

  private static String last(String column) {
    return LAST.formatted(column, column);
  }

  /** Whether there is a topic of changes. */
  boolean areRead() {
    return areRead;
  }

  /** Stores changes in the order of their arrival. */
  void store(List<OrderChange> changes) {
    client
        .sql(STORE)
        .param("orderIds", texts(changes, OrderChange::orderId))
        .param("changedAts", texts(changes, OrderChange::changedAt))
        .param("deadlines", texts(changes, OrderChange::deadline))
        .param("setBys", texts(changes, OrderChange::setBy))
        .param("havePolicies", texts(changes, change -> change.policy() != null))
        .params(OrderEventStatements.terms(changes, OrderChange::policy))
        .param("channels", texts(changes, OrderChange::channel))
        .param("paymentMethods", texts(changes, OrderChange::paymentMethod))
        .params(OrderEventStatements.amounts(changes, OrderChange::amount))
        .update();
  }

  /**
   * Has those who register some of these orders at the same time find the changes that are stored
   * by now, unless the orders can be found by now.
   */
  void lockUnknown(Collection<String> orderIds) {
    List<Long> locks =
        client
            .sql(LOCK_UNKNOWN)
            .param("orderIds", orderIds.toArray(String[]::new))
            .query(Long.class)
            .list();
    client.sql(DELETE_LOCKS).param("ids", locks.toArray(Long[]::new)).update();
  }

  /**
   * Makes the changes of pending orders that are stored; returns these orders.
   *
   * @param stale those of the orders that were just registered as stale: they are pending
   *     nevertheless if a change gives them a deadline ahead
   */
  List<Row> make(Collection<String> orderIds, Collection<String> stale) {
    return client
        .sql(MAKE)
        .param("orderIds", orderIds.toArray(String[]::new))
        .param("stale", stale.toArray(String[]::new))
        .query(statements::row)
        .list();
  }

  /** Returns the last 100 changes that were made to an order, in their order. */
  public List<Made> of(String orderId) {
    return client
        .sql(MADE)
        .param(orderId)
        .query(
            (row, number) -> {
              BigDecimal amount = row.getBigDecimal("amount");
              return new Made(
                  requiredInstant(row, "made_at"),
                  requiredInstant(row, "changed_at"),
                  row.getString("set_by"),
                  row.getString("channel"),
                  row.getString("payment_method"),
                  amount == null ? null : new Amount(amount, row.getString("currency")),
                  requiredInstant(row, "deadline_before"),
                  requiredInstant(row, "deadline_after"),
                  instant(row, "extended_until_before"));
            })
        .list();
  }

  /** Deletes the changes of orders, because these are deleted too. */
  void deleteAll(String... orderIds) {
    client.sql(DELETE).param("orderIds", orderIds).update();
  }

  /**
   * Deletes at most 5,000 changes that have waited since before a time; returns how many.
   *
   * @param unneeded SQL condition on the change {@code c}: it is not needed any more
   */
  int purge(Instant before, String unneeded) {
    return client.sql(PURGE.formatted(unneeded)).param("before", parameter(before)).update();
  }
}
