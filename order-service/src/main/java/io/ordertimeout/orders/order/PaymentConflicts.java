package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;
import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.texts;

import io.ordertimeout.orders.outbox.ConflictKind;
import io.ordertimeout.orders.outbox.OutboxEvent;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Payments that met a cancelled or closed order. Their rows of the outbox live as long as the
 * order, so that a payment that is delivered again raises no second conflict. Thread-safe.
 */
@Repository
public class PaymentConflicts {

  /**
   * A conflict.
   *
   * @param paymentId the payment
   * @param paidAt when the payment was made
   * @param detectedAt when the conflict was detected
   * @param publication when and where the conflict was published; null if it was not yet
   */
  public record Conflict(
      String paymentId,
      @Nullable Instant paidAt,
      Instant detectedAt,
      @Nullable Publication publication) {}

  /**
   * A conflict with its order.
   *
   * @param kind whether the payment was made before the deadline
   * @param orderId the order
   * @param state the state of the order
   * @param amount what was to be paid, if stated
   * @param paymentId the payment
   * @param deadline the payment deadline of the order
   * @param decidedAt when the order was cancelled or closed
   * @param paidAt when the payment was made
   * @param detectedAt when the conflict was detected
   * @param publishedAt when Kafka acknowledged the conflict; null if it has not yet
   */
  public record OrderConflict(
      ConflictKind kind,
      String orderId,
      OrderState state,
      @Nullable Money amount,
      String paymentId,
      @Nullable Instant deadline,
      @Nullable Instant decidedAt,
      @Nullable Instant paidAt,
      Instant detectedAt,
      @Nullable Instant publishedAt) {

    /** Returns where the conflict is in the list. */
    public ConflictKey key() {
      return new ConflictKey(detectedAt, orderId, paymentId);
    }
  }

  /**
   * Where a conflict is in the list.
   *
   * @param detectedAt when it was detected
   * @param orderId its order
   * @param paymentId its payment
   */
  public record ConflictKey(Instant detectedAt, String orderId, String paymentId) {}

  /**
   * A payment that changed nothing, because its order was already paid, or closed as stale.
   *
   * @param paymentId the payment
   * @param paidAt when the payment was made
   * @param detectedAt when it was first stored
   */
  public record PaymentWithoutEffect(String paymentId, Instant paidAt, Instant detectedAt) {}

  private static final String RAISE =
      """
      with raised as (
        insert into outbox (order_row, payment_id, shard, paid_at)
        select distinct on (d.id, i.payment_id) d.id, i.payment_id, d.shard, i.paid_at
        from unnest(:orderIds::text[], :paymentIds::text[], :paidAts::timestamptz[])
          as i(order_id, payment_id, paid_at)
        join order_deadline d on d.order_id = i.order_id
        where d.order_id = any(:orderIds::text[])
        order by d.id, i.payment_id
        on conflict do nothing
        returning order_row, payment_id, shard, paid_at, written_at
      )
      select r.*, %s
      from raised r join order_deadline d on d.id = r.order_row
      """
          .formatted(OutboxRows.OF_ORDER);

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

  private static final String WITHOUT_EFFECT_OF_ORDER =
      """
      select payment_id, paid_at, detected_at from payment_without_effect
      where order_id = ? order by detected_at, payment_id
      """;

  private static final String OF_ORDER =
      """
      select payment_id, paid_at, written_at, published_at, record_partition, record_offset
      from outbox o
      where order_row = (select id from order_deadline where order_id = ?) and %s
      order by written_at, payment_id
      """
          .formatted(OutboxRows.IS_CONFLICT);

  private static final String PAGE =
      """
      select c.*, d.order_id, d.state, d.amount, d.currency, d.deadline, d.decided_at
      from (
        select order_row, payment_id, paid_at, written_at, published_at from outbox o
        where %s and (written_at, order_row, payment_id)
          < (:detectedAt, (select id from order_deadline where order_id = :orderId), :paymentId)
        order by written_at desc, order_row desc, payment_id desc
        limit :limit
      ) c
      cross join lateral (
        select o.order_id, o.state, o.amount, o.currency, o.deadline, o.decided_at
        from order_deadline o
        where o.id = c.order_row
        -- Keeps the join from being turned around.
        offset 0
      ) d
      order by c.written_at desc, c.order_row desc, c.payment_id desc
      """
          .formatted(OutboxRows.IS_CONFLICT);

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
        .param("orderIds", texts(payments, OrderSettled.Paid::orderId))
        .param("paymentIds", texts(payments, OrderSettled.Paid::paymentId))
        .param("paidAts", texts(payments, OrderSettled.Paid::paidAt))
        .query(OutboxRows::event)
        .list();
  }

  /**
   * Keeps payments that changed nothing, in case their order turns out to be cancelled, and for its
   * history. Needs a surrounding transaction.
   */
  void keepWithoutEffect(Collection<OrderSettled.Paid> payments) {
    client
        .sql(KEEP_WITHOUT_EFFECT)
        .param("orderIds", texts(payments, OrderSettled.Paid::orderId))
        .param("paymentIds", texts(payments, OrderSettled.Paid::paymentId))
        .param("paidAts", texts(payments, OrderSettled.Paid::paidAt))
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

  /** Returns the payments of an order that changed nothing, in the order of their detection. */
  public List<PaymentWithoutEffect> withoutEffect(String orderId) {
    return client
        .sql(WITHOUT_EFFECT_OF_ORDER)
        .param(orderId)
        .query(
            (row, number) ->
                new PaymentWithoutEffect(
                    row.getString("payment_id"),
                    requiredInstant(row, "paid_at"),
                    requiredInstant(row, "detected_at")))
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
                    requiredInstant(row, "written_at"),
                    Publication.of(row)))
        .list();
  }

  /** Returns at most {@code limit} conflicts that follow a position, the latest first. */
  public List<OrderConflict> page(ConflictKey after, int limit) {
    return client
        .sql(PAGE)
        .param("detectedAt", parameter(after.detectedAt()))
        .param("orderId", after.orderId())
        .param("paymentId", after.paymentId())
        .param("limit", limit)
        .query(PaymentConflicts::conflict)
        .list();
  }

  private static OrderConflict conflict(ResultSet row, int number) throws SQLException {
    Instant deadline = instant(row, "deadline");
    Instant paidAt = instant(row, "paid_at");
    BigDecimal amount = row.getBigDecimal("amount");
    String currency = row.getString("currency");
    return new OrderConflict(
        ConflictKind.of(paidAt, deadline),
        row.getString("order_id"),
        OrderState.valueOf(row.getString("state")),
        amount == null || currency == null ? null : Money.of(amount, currency),
        row.getString("payment_id"),
        deadline,
        instant(row, "decided_at"),
        paidAt,
        requiredInstant(row, "written_at"),
        instant(row, "published_at"));
  }
}
