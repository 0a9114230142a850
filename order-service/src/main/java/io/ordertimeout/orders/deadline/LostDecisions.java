package io.ordertimeout.orders.deadline;

import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxRows;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

/**
 * Restores decisions that were published but that Postgres has lost. What was published is what
 * other systems act upon, so it replaces whatever the order's row contains by now. Thread-safe.
 */
@Repository
public class LostDecisions {

  /**
   * A decision, as it was published.
   *
   * @param orderId the order
   * @param shard the order's shard
   * @param deadline its payment deadline, if it was known
   * @param cancelledAt when it was cancelled; null if it was closed, of which only a conflict tells
   * @param publishedAt when the record was appended
   */
  public record Decision(
      String orderId,
      int shard,
      @Nullable Instant deadline,
      @Nullable Instant cancelledAt,
      Instant publishedAt) {}

  /**
   * A conflict, as it was published, with the decision that the payment met.
   *
   * @param decision the decision
   * @param paymentId the payment
   * @param paidAt when it was made
   */
  public record PublishedConflict(Decision decision, String paymentId, @Nullable Instant paidAt) {}

  private static final String UNDECIDED =
      """
      select i.order_id from unnest(:orderIds::text[]) as i(order_id)
      where not exists (
        select from order_deadline d
        where d.order_id = i.order_id and (d.state = any(:states::text[])) is true
        -- Looked up for each order, instead of joined.
        offset 0)
      """;

  private static final String RESTORED =
      """
      (
        select
          order_id, shard, case when cancelled_at is null then 'CLOSED' else 'CANCELLED' end as state,
          deadline, coalesce(cancelled_at, published_at) as decided_at,
          case when cancelled_at is null then 'CLOSING' else 'EXPIRY' end as decided_by
        from unnest(
          :orderIds::text[], :shards::int[], :deadlines::timestamptz[],
          :cancelledAts::timestamptz[], :publishedAts::timestamptz[])
          as i(order_id, shard, deadline, cancelled_at, published_at)
        order by order_id
      ) as r""";

  // A row that exists is locked and stays as it is. A row that is new has no creation, so that the
  // creation completes it when it is read again.
  private static final String INSERT_OR_LOCK =
      """
      insert into order_deadline as d (order_id, shard, state, deadline, decided_at, decided_by)
      select order_id, shard, state, deadline, decided_at, decided_by from %s
      on conflict (order_id) do update set state = d.state where false
      """
          .formatted(RESTORED);

  private static final String PAYMENTS =
      """
      select order_id, payment_id, paid_at, shard from order_deadline
      where order_id = any(:orderIds::text[]) and (state = 'PAID') is true
      """;

  private static final String OVERWRITE =
      """
      update order_deadline d set
        state = r.state,
        deadline = coalesce(r.deadline, d.deadline),
        decided_at = r.decided_at,
        decided_by = r.decided_by,
        payment_id = null,
        paid_at = null,
        closed_at = null,
        close_reason = null
      from %s
      where d.order_id = any(:orderIds::text[]) and d.order_id = r.order_id
        and d.state not in ('CANCELLED', r.state)
      """
          .formatted(RESTORED);

  private static final String RECORD_PUBLICATIONS =
      """
      insert into published_cancellation (order_row, published_at)
      select d.id, i.published_at
      from unnest(
        :orderIds::text[], :cancelledAts::timestamptz[], :publishedAts::timestamptz[])
        as i(order_id, cancelled_at, published_at)
      join order_deadline d on d.order_id = i.order_id
      where i.cancelled_at is not null and d.order_id = any(:orderIds::text[])
      order by d.id
      on conflict do nothing
      """;

  private static final String ANNOUNCE =
      """
      with cancelled as (
        select id, order_id, shard, created_at, deadline, decided_at, traceparent
        from order_deadline
        where order_id = any(:orderIds::text[]) and (state = 'CANCELLED') is true
          and deadline is not null
      )
      %s
      """
          .formatted(OutboxRows.INSERT_CANCELLED);

  private static final String UNKNOWN_CONFLICTS =
      """
      select i.number from unnest(:orderIds::text[], :paymentIds::text[])
        with ordinality as i(order_id, payment_id, number)
      where not exists (
        select from payment_conflict c
        where c.order_id = i.order_id and c.payment_id = i.payment_id
        offset 0)
      """;

  private static final String RESTORE_CONFLICTS =
      """
      insert into payment_conflict (order_id, payment_id, paid_at, published_at)
      select distinct on (order_id, payment_id) order_id, payment_id, paid_at, published_at
      from unnest(
        :orderIds::text[], :paymentIds::text[], :paidAts::timestamptz[], :publishedAts::timestamptz[])
        as i(order_id, payment_id, paid_at, published_at)
      order by order_id, payment_id
      on conflict do nothing
      """;

  private final JdbcClient client;
  private final PaymentConflicts conflicts;

  LostDecisions(JdbcClient client, PaymentConflicts conflicts) {
    this.client = client;
    this.conflicts = conflicts;
  }

  /** Returns those of the orders that Postgres does not contain as cancelled. */
  public Set<String> notCancelled(Collection<String> orderIds) {
    return without(orderIds, OrderState.CANCELLED);
  }

  /** Returns the indexes of the conflicts that Postgres does not contain. */
  public List<Integer> unknownConflicts(List<String> orderIds, List<String> paymentIds) {
    return client
        .sql(UNKNOWN_CONFLICTS)
        .param("orderIds", orderIds.toArray(String[]::new))
        .param("paymentIds", paymentIds.toArray(String[]::new))
        .query((row, number) -> row.getInt("number") - 1)
        .list();
  }

  /**
   * Restores published cancellations. A payment that had settled an order meanwhile becomes a
   * conflict: it came too late, since all payments in time were stored when the order was
   * cancelled. Needs a surrounding transaction.
   *
   * @return the conflicts, which are yet to be published
   */
  @Transactional
  public List<OutboxEvent> restore(Collection<Decision> cancellations) {
    return restoreOnce(
        cancellations.stream()
            .collect(Collectors.toMap(Decision::orderId, Function.identity(), (one, same) -> one))
            .values());
  }

  /**
   * Restores published conflicts, and the decisions that the payments met.
   *
   * @return the events that are yet to be published
   */
  @Transactional
  public List<OutboxEvent> restoreConflicts(List<PublishedConflict> published) {
    client
        .sql(RESTORE_CONFLICTS)
        .param("orderIds", OrderEventStatements.texts(published, c -> c.decision().orderId()))
        .param("paymentIds", OrderEventStatements.texts(published, PublishedConflict::paymentId))
        .param("paidAts", OrderEventStatements.texts(published, PublishedConflict::paidAt))
        .param(
            "publishedAts", OrderEventStatements.texts(published, c -> c.decision().publishedAt()))
        .update();
    Map<String, Decision> decisions = new HashMap<>();
    published.forEach(c -> decisions.put(c.decision().orderId(), c.decision()));
    Set<String> undecided = without(decisions.keySet(), OrderState.CANCELLED, OrderState.CLOSED);
    List<Decision> lost = undecided.stream().map(decisions::get).toList();
    List<OutboxEvent> events = new ArrayList<>(restoreOnce(lost));
    // Its cancellation may not have been published before it was lost.
    List<Decision> cancelled = lost.stream().filter(d -> d.cancelledAt() != null).toList();
    if (!cancelled.isEmpty()) {
      events.addAll(
          client
              .sql(ANNOUNCE)
              .param("orderIds", OrderEventStatements.texts(cancelled, Decision::orderId))
              .query(OutboxRows::event)
              .list());
    }
    return events;
  }

  private Set<String> without(Collection<String> orderIds, OrderState... states) {
    String[] names = new String[states.length];
    for (int i = 0; i < states.length; i++) {
      names[i] = states[i].name();
    }
    return new HashSet<>(
        client
            .sql(UNDECIDED)
            .param("orderIds", orderIds.toArray(String[]::new))
            .param("states", names)
            .query(String.class)
            .list());
  }

  private List<OutboxEvent> restoreOnce(Collection<Decision> decisions) {
    if (decisions.isEmpty()) {
      return List.of();
    }
    // A payment that is being stored has locked its order: what it says is read after it commits.
    execute(INSERT_OR_LOCK, decisions);
    List<OrderSettled.Paid> payments = new ArrayList<>(payments(decisions));
    payments.addAll(conflicts.withoutEffect(decisions.stream().map(Decision::orderId).toList()));
    execute(OVERWRITE, decisions);
    execute(RECORD_PUBLICATIONS, decisions);
    return payments.isEmpty() ? List.of() : conflicts.raise(payments);
  }

  private void execute(String statement, Collection<Decision> decisions) {
    client
        .sql(statement)
        .param("orderIds", OrderEventStatements.texts(decisions, Decision::orderId))
        .param("shards", decisions.stream().mapToInt(Decision::shard).toArray())
        .param("deadlines", OrderEventStatements.texts(decisions, Decision::deadline))
        .param("cancelledAts", OrderEventStatements.texts(decisions, Decision::cancelledAt))
        .param("publishedAts", OrderEventStatements.texts(decisions, Decision::publishedAt))
        .update();
  }

  private List<OrderSettled.Paid> payments(Collection<Decision> decisions) {
    return client
        .sql(PAYMENTS)
        .param("orderIds", OrderEventStatements.texts(decisions, Decision::orderId))
        .query(
            (row, number) ->
                new OrderSettled.Paid(
                    row.getString("order_id"),
                    row.getInt("shard"),
                    Instant.EPOCH,
                    row.getString("payment_id"),
                    requiredInstant(row, "paid_at")))
        .list();
  }
}
