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
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Payments that met a cancelled or closed order. Their rows of the outbox live as long as the
 * order, so that a payment that is delivered again raises no second conflict, and an order as long
 * as somebody has to say what became of the money. Thread-safe.
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
   * @param resolution how it has ended; null while it is open
   * @param resolvedAt when somebody said so; null while it is open
   * @param resolvedBy who said so; null while it is open
   * @param reason why, in their words; null while it is open
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
      @Nullable Instant publishedAt,
      @Nullable Resolution resolution,
      @Nullable Instant resolvedAt,
      @Nullable String resolvedBy,
      @Nullable String reason) {

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
   * The conflicts that are open.
   *
   * @param conflicts how many, at most 2,000, the oldest
   * @param oldest when the oldest of them was detected; null if there is none
   * @param amounts the amounts of their orders by currency
   */
  public record Open(long conflicts, @Nullable Instant oldest, Map<String, BigDecimal> amounts) {

    /** No conflict. */
    public static final Open NONE = new Open(0, null, Map.of());
  }

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

  private static final String COLUMNS =
      """
      o.order_row, o.payment_id, o.paid_at, o.written_at, o.published_at, o.resolution,
          o.resolved_at, o.resolved_by, o.resolution_reason""";

  private static final String OF_PAYMENT =
      """
      select %s, d.order_id, d.state, d.amount, d.currency, d.deadline, d.decided_at
      from order_deadline d join outbox o on o.order_row = d.id
      where d.order_id = :orderId and o.payment_id = :paymentId and %s
      """
          .formatted(COLUMNS, OutboxRows.IS_CONFLICT);

  private static final String RESOLVE =
      """
      update outbox o set
        resolution = :resolution, resolved_at = clock_timestamp(), resolved_by = :resolvedBy,
        resolution_reason = :reason
      where o.order_row = (select id from order_deadline where order_id = :orderId)
        and o.payment_id = :paymentId and %s
      """
          .formatted(OutboxRows.IS_OPEN_CONFLICT);

  private static final String OPEN =
      """
      select d.currency, count(*) as conflicts, min(c.written_at) as oldest,
        coalesce(sum(d.amount), 0) as amount
      from (
        select order_row, written_at from outbox o where %s
        order by written_at, order_row, payment_id
        limit 2000
      ) c
      cross join lateral (
        select o.amount, o.currency from order_deadline o where o.id = c.order_row
        offset 0
      ) d
      group by d.currency
      """
          .formatted(OutboxRows.IS_OPEN_CONFLICT);

  private static final String PAGE =
      """
      select c.*, d.order_id, d.state, d.amount, d.currency, d.deadline, d.decided_at
      from (
        select %s from outbox o
        where %%s and (written_at, order_row, payment_id)
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
          .formatted(COLUMNS);

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

  /** Finds a conflict. */
  public Optional<OrderConflict> find(String orderId, String paymentId) {
    return client
        .sql(OF_PAYMENT)
        .param("orderId", orderId)
        .param("paymentId", paymentId)
        .query(PaymentConflicts::conflict)
        .optional();
  }

  /** Records how a conflict has ended; returns whether it was open. */
  public boolean resolve(
      String orderId, String paymentId, Resolution resolution, String resolvedBy, String reason) {
    return client
            .sql(RESOLVE)
            .param("orderId", orderId)
            .param("paymentId", paymentId)
            .param("resolution", resolution.name())
            .param("resolvedBy", resolvedBy)
            .param("reason", reason)
            .update()
        > 0;
  }

  /** Counts the conflicts that are open. */
  public Open open() {
    Map<String, BigDecimal> amounts = new TreeMap<>();
    List<Open> byCurrency =
        client
            .sql(OPEN)
            .query(
                (row, number) -> {
                  String currency = row.getString("currency");
                  if (currency != null) {
                    amounts.put(currency, row.getBigDecimal("amount"));
                  }
                  return new Open(
                      row.getLong("conflicts"), requiredInstant(row, "oldest"), Map.of());
                })
            .list();
    return new Open(
        byCurrency.stream().mapToLong(Open::conflicts).sum(),
        byCurrency.stream()
            .map(Open::oldest)
            .filter(Objects::nonNull)
            .min(Comparator.naturalOrder())
            .orElse(null),
        amounts);
  }

  /**
   * Returns at most {@code limit} conflicts that follow a position, the latest first.
   *
   * @param onlyOpen whether those that have ended are left out
   */
  public List<OrderConflict> page(ConflictKey after, boolean onlyOpen, int limit) {
    return client
        .sql(PAGE.formatted(onlyOpen ? OutboxRows.IS_OPEN_CONFLICT : OutboxRows.IS_CONFLICT))
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
    String resolution = row.getString("resolution");
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
        instant(row, "published_at"),
        resolution == null ? null : Resolution.valueOf(resolution),
        instant(row, "resolved_at"),
        row.getString("resolved_by"),
        row.getString("resolution_reason"));
  }
}
