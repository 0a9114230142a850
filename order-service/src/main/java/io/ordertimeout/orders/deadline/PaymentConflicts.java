package io.ordertimeout.orders.deadline;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxRows;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Payments that met a cancelled or closed order. A conflict outlives its outbox row, so that a
 * payment that is delivered again does not raise it a second time. Thread-safe.
 */
@Repository
public class PaymentConflicts {

  /**
   * A conflict.
   *
   * @param paymentId the payment
   * @param paidAt when the payment was made
   * @param detectedAt when the conflict was detected
   * @param publishedAt when Kafka acknowledged the conflict; null if it has not yet
   */
  public record Conflict(
      String paymentId,
      @Nullable Instant paidAt,
      Instant detectedAt,
      @Nullable Instant publishedAt) {}

  private static final String RAISE =
      """
      with incoming as (
        select distinct on (order_id, payment_id) order_id, payment_id, paid_at
        from unnest(:orderIds::text[], :paymentIds::text[], :paidAts::timestamptz[])
          as i(order_id, payment_id, paid_at)
        order by order_id, payment_id
      ), fresh as (
        insert into payment_conflict (order_id, payment_id, paid_at)
        select order_id, payment_id, paid_at from incoming
        on conflict do nothing
        returning order_id, payment_id, paid_at
      ), conflict as (
        select
          d.order_id, f.payment_id, d.shard, d.created_at, d.deadline,
          case when d.state = 'CANCELLED' then d.decided_at end as cancelled_at, f.paid_at,
          d.traceparent
        from fresh f join order_deadline d on d.order_id = f.order_id
        where d.order_id = any(:orderIds::text[])
      )
      %s
      """
          .formatted(OutboxRows.INSERT_CONFLICTS);

  private static final String KEEP_WITHOUT_EFFECT =
      """
      insert into payment_without_effect (order_id, payment_id, paid_at)
      select distinct on (order_id, payment_id) order_id, payment_id, paid_at
      from unnest(:orderIds::text[], :paymentIds::text[], :paidAts::timestamptz[])
        as i(order_id, payment_id, paid_at)
      order by order_id, payment_id
      on conflict do nothing
      """;

  private static final String WITHOUT_EFFECT =
      """
      select order_id, payment_id, paid_at from payment_without_effect
      where order_id = any(:orderIds::text[])
      """;

  private static final String OF_ORDER =
      """
      select payment_id, paid_at, detected_at, published_at from payment_conflict
      where order_id = ? order by detected_at, payment_id
      """;

  private final JdbcClient client;

  PaymentConflicts(JdbcClient client) {
    this.client = client;
  }

  /**
   * Writes one conflict for each payment to the outbox; returns those that were not written before.
   * Needs a surrounding transaction.
   */
  List<OutboxEvent> raise(Collection<OrderSettled.Paid> payments) {
    return client
        .sql(RAISE)
        .param("orderIds", OrderEventStatements.texts(payments, OrderSettled.Paid::orderId))
        .param("paymentIds", OrderEventStatements.texts(payments, OrderSettled.Paid::paymentId))
        .param("paidAts", OrderEventStatements.texts(payments, OrderSettled.Paid::paidAt))
        .query(OutboxRows::event)
        .list();
  }

  /**
   * Keeps payments that changed nothing, in case their order turns out to be cancelled. Needs a
   * surrounding transaction.
   */
  void keepWithoutEffect(Collection<OrderSettled.Paid> payments) {
    client
        .sql(KEEP_WITHOUT_EFFECT)
        .param("orderIds", OrderEventStatements.texts(payments, OrderSettled.Paid::orderId))
        .param("paymentIds", OrderEventStatements.texts(payments, OrderSettled.Paid::paymentId))
        .param("paidAts", OrderEventStatements.texts(payments, OrderSettled.Paid::paidAt))
        .update();
  }

  /** Returns the payments of those orders that changed nothing. */
  List<OrderSettled.Paid> withoutEffect(Collection<String> orderIds) {
    return client
        .sql(WITHOUT_EFFECT)
        .param("orderIds", orderIds.toArray(String[]::new))
        .query(
            (row, number) ->
                new OrderSettled.Paid(
                    row.getString("order_id"),
                    0,
                    Instant.EPOCH,
                    row.getString("payment_id"),
                    requiredInstant(row, "paid_at")))
        .list();
  }

  /** Returns the conflicts of an order, in the order of their detection. */
  public List<Conflict> of(String orderId) {
    return client
        .sql(OF_ORDER)
        .param(orderId)
        .query(
            (row, number) ->
                new Conflict(
                    row.getString("payment_id"),
                    instant(row, "paid_at"),
                    requiredInstant(row, "detected_at"),
                    instant(row, "published_at")))
        .list();
  }
}
