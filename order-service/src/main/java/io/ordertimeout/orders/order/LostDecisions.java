package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.texts;

import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.position.ReadBackState;
import io.ordertimeout.orders.position.ReflectedServer;
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
   * @param shard the order's shard
   * @param deadline its payment deadline, if it was known
   * @param cancelledAt when it was cancelled; null if it was closed, of which only a conflict tells
   * @param publication when and where the record was appended that tells of it
   */
  public record Decision(
      String orderId,
      int shard,
      @Nullable Instant deadline,
      @Nullable Instant cancelledAt,
      Publication publication) {}

  /**
   * A conflict, as it was published, with the decision that the payment met.
   *
   * @param paidAt when it was made
   */
  public record PublishedConflict(Decision decision, String paymentId, @Nullable Instant paidAt) {}

  /**
   * SQL condition: the order of {@code i} was purged, or may have been. Its time alone does not say
   * so: an order that a failover has lost may have had a later deadline before an operator moved
   * it. So nothing counts as purged until all that was published is reflected.
   */
  private static final String PURGED =
      """
      (%s
        and greatest(i.deadline, i.cancelled_at) < %s
        and not exists (
          select from order_deadline p where p.order_id = i.order_id offset 0)) is true"""
          .formatted(ReadBackState.IS_REFLECTED, PurgeHorizon.SQL);

  private static final String UNDECIDED =
      """
      select i.order_id from unnest(
        :orderIds::text[], :deadlines::timestamptz[], :cancelledAts::timestamptz[])
        as i(order_id, deadline, cancelled_at)
      where not exists (
        select from order_deadline d
        where d.order_id = i.order_id and (d.state = any(:states::text[])) is true
        -- Looked up for each order, instead of joined.
        offset 0)
        and not %s
      """
          .formatted(PURGED);

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

  private static final String RECORD_CANCELLATIONS =
      """
      insert into outbox (
        order_row, shard, written_at, published_at, record_partition, record_offset)
      select d.id, d.shard, i.cancelled_at, i.published_at, i.partition, i.record_offset
      from unnest(
        :orderIds::text[], :cancelledAts::timestamptz[], :publishedAts::timestamptz[],
        :partitions::int[], :offsets::bigint[])
        as i(order_id, cancelled_at, published_at, partition, record_offset)
      join order_deadline d on d.order_id = i.order_id
      where d.order_id = any(:orderIds::text[])
      order by d.id
      on conflict do nothing
      """;

  private static final String ANNOUNCE =
      """
      with announced as (
        insert into outbox (order_row, shard)
        select id, shard from order_deadline
        where order_id = any(:orderIds::text[]) and (state = 'CANCELLED') is true
          and deadline is not null
        order by id
        on conflict do nothing
        returning order_row, shard, written_at
      )
      -- Not stored: what held the order may be lost as well, and it was decided before.
      select a.*, '' as payment_id, d.deadline + %s as due_at, %s
      from announced a join order_deadline d on d.id = a.order_row
      """
          .formatted(NextStage.GRACE, OutboxRows.OF_ORDER);

  private static final String UNKNOWN_CONFLICTS =
      """
      select i.number from unnest(
        :orderIds::text[], :deadlines::timestamptz[], :cancelledAts::timestamptz[],
        :paymentIds::text[])
        with ordinality as i(order_id, deadline, cancelled_at, payment_id, number)
      where not (
        exists (
          select from order_deadline d join outbox o on o.order_row = d.id
          where d.order_id = i.order_id and o.payment_id = i.payment_id
          offset 0)
        -- Raised again, it may have met another decision.
        and (i.cancelled_at is null or exists (
          select from order_deadline d
          where d.order_id = i.order_id and (d.state = 'CANCELLED') is true
          offset 0)))
        and not %s
      """
          .formatted(PURGED);

  private static final String RESTORE_CONFLICTS =
      """
      insert into outbox (
        order_row, payment_id, shard, paid_at, written_at, published_at, record_partition,
        record_offset)
      select distinct on (d.id, i.payment_id)
        d.id, i.payment_id, d.shard, i.paid_at, i.published_at, i.published_at, i.partition,
        i.record_offset
      from unnest(
        :orderIds::text[], :paymentIds::text[], :paidAts::timestamptz[],
        :publishedAts::timestamptz[], :partitions::int[], :offsets::bigint[])
        as i(order_id, payment_id, paid_at, published_at, partition, record_offset)
      join order_deadline d on d.order_id = i.order_id
      where d.order_id = any(:orderIds::text[])
      order by d.id, i.payment_id
      on conflict do nothing
      """;

  private final JdbcClient client;
  private final PaymentConflicts conflicts;
  private final ReadBackState readBack;
  private final NextStage nextStage;

  LostDecisions(
      JdbcClient client, PaymentConflicts conflicts, ReadBackState readBack, NextStage nextStage) {
    this.readBack = readBack;
    this.nextStage = nextStage;
    this.client = client;
    this.conflicts = conflicts;
  }

  /** Returns those of the orders that Postgres does not contain as cancelled. */
  public Set<String> notCancelled(Collection<String> orderIds) {
    return without(orderIds, List.of(), OrderState.CANCELLED);
  }

  /**
   * Returns those of the cancellations that Postgres has lost: it does not contain the order as
   * cancelled, and has not purged it.
   */
  public List<Decision> lost(List<Decision> cancellations) {
    if (cancellations.isEmpty()) {
      return List.of();
    }
    Set<String> lost = without(orderIds(cancellations), cancellations, OrderState.CANCELLED);
    return cancellations.stream().filter(decision -> lost.contains(decision.orderId())).toList();
  }

  /**
   * Returns those of the conflicts that Postgres has lost: it does not contain them, and has not
   * purged their orders.
   */
  public List<PublishedConflict> lostConflicts(List<PublishedConflict> published) {
    List<Decision> decisions = published.stream().map(PublishedConflict::decision).toList();
    return client
        .sql(UNKNOWN_CONFLICTS)
        .param("reflected", reflected())
        .param("orderIds", texts(decisions, Decision::orderId))
        .param("deadlines", texts(decisions, Decision::deadline))
        .param("cancelledAts", texts(decisions, Decision::cancelledAt))
        .param("paymentIds", texts(published, PublishedConflict::paymentId))
        .query((row, number) -> published.get(row.getInt("number") - 1))
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
    Collection<Decision> once =
        cancellations.stream()
            .collect(Collectors.toMap(Decision::orderId, Function.identity(), (one, same) -> one))
            .values();
    execute(INSERT_OR_LOCK, once);
    List<OutboxEvent> conflicting = overwrite(once);
    execute(RECORD_CANCELLATIONS, once);
    return conflicting;
  }

  /**
   * Restores published conflicts, and the decisions that the payments met.
   *
   * @return the events that are yet to be published
   */
  @Transactional
  public List<OutboxEvent> restoreConflicts(List<PublishedConflict> published) {
    Map<String, Decision> decisions = new HashMap<>();
    // What was cancelled stays cancelled, whatever else a conflict tells of the order.
    published.forEach(
        c ->
            decisions.merge(
                c.decision().orderId(),
                c.decision(),
                (one, other) -> one.cancelledAt() == null ? other : one));
    Set<String> undecided =
        without(decisions.keySet(), List.of(), OrderState.CANCELLED, OrderState.CLOSED);
    Set<String> notCancelled = notCancelled(decisions.keySet());
    List<Decision> lost =
        decisions.values().stream()
            .filter(d -> (d.cancelledAt() == null ? undecided : notCancelled).contains(d.orderId()))
            .toList();
    execute(INSERT_OR_LOCK, lost);
    recordConflicts(published);
    List<OutboxEvent> events = new ArrayList<>(overwrite(lost));
    // Its cancellation may not have been published before it was lost.
    List<Decision> cancelled = lost.stream().filter(d -> d.cancelledAt() != null).toList();
    if (!cancelled.isEmpty()) {
      events.addAll(
          client
              .sql(ANNOUNCE)
              .params(nextStage.parameters())
              .param("orderIds", texts(cancelled, Decision::orderId))
              .query(OutboxRows::event)
              .list());
    }
    return events;
  }

  /**
   * Returns those of the orders that Postgres does not contain in one of the states.
   *
   * @param decisions their decisions, in the same order, by which orders that were purged are left
   *     out; or none
   */
  private Set<String> without(
      Collection<String> orderIds, List<Decision> decisions, OrderState... states) {
    String[] names = new String[states.length];
    for (int i = 0; i < states.length; i++) {
      names[i] = states[i].name();
    }
    return new HashSet<>(
        client
            .sql(UNDECIDED)
            .param("reflected", reflected())
            .param("orderIds", orderIds.toArray(String[]::new))
            .param("deadlines", texts(decisions, Decision::deadline))
            .param("cancelledAts", texts(decisions, Decision::cancelledAt))
            .param("states", names)
            .query(String.class)
            .list());
  }

  /** The server that reflects everything; empty if none does. */
  private String reflected() {
    ReflectedServer known = readBack.reflected();
    return known.isEntire() ? known.identity() : "";
  }

  private void recordConflicts(List<PublishedConflict> published) {
    List<Decision> decisions = published.stream().map(PublishedConflict::decision).toList();
    client
        .sql(RESTORE_CONFLICTS)
        .param("orderIds", texts(decisions, Decision::orderId))
        .param("paymentIds", texts(published, PublishedConflict::paymentId))
        .param("paidAts", texts(published, PublishedConflict::paidAt))
        .param("publishedAts", texts(decisions, d -> d.publication().at()))
        .param("partitions", partitions(decisions))
        .param("offsets", offsets(decisions))
        .update();
  }

  /**
   * Overwrites the rows of orders, which are locked: a payment that was being stored is read after
   * it has committed. Returns the conflicts with payments that had settled them.
   */
  private List<OutboxEvent> overwrite(Collection<Decision> decisions) {
    if (decisions.isEmpty()) {
      return List.of();
    }
    List<OrderSettled.Paid> payments = new ArrayList<>(payments(decisions));
    payments.addAll(conflicts.withoutEffect(orderIds(decisions)));
    execute(OVERWRITE, decisions);
    return payments.isEmpty() ? List.of() : conflicts.raise(payments);
  }

  private static List<String> orderIds(Collection<Decision> decisions) {
    return decisions.stream().map(Decision::orderId).toList();
  }

  private void execute(String statement, Collection<Decision> decisions) {
    client
        .sql(statement)
        .param("orderIds", texts(decisions, Decision::orderId))
        .param("shards", decisions.stream().mapToInt(Decision::shard).toArray())
        .param("deadlines", texts(decisions, Decision::deadline))
        .param("cancelledAts", texts(decisions, Decision::cancelledAt))
        .param("publishedAts", texts(decisions, d -> d.publication().at()))
        .param("partitions", partitions(decisions))
        .param("offsets", offsets(decisions))
        .update();
  }

  private static Integer[] partitions(Collection<Decision> decisions) {
    return decisions.stream().map(d -> d.publication().partition()).toArray(Integer[]::new);
  }

  private static Long[] offsets(Collection<Decision> decisions) {
    return decisions.stream().map(d -> d.publication().offset()).toArray(Long[]::new);
  }

  private List<OrderSettled.Paid> payments(Collection<Decision> decisions) {
    return client
        .sql(PAYMENTS)
        .param("orderIds", texts(decisions, Decision::orderId))
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
