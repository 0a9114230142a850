package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.instant;
import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;

import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderExpiring;
import io.ordertimeout.orders.platform.kafka.PartitionCounts;
import io.ordertimeout.orders.position.ReadBackState;
import io.ordertimeout.orders.position.ReflectedServer;
import io.ordertimeout.orders.position.StoredPositions;
import io.ordertimeout.orders.suspension.Interruptions;
import io.ordertimeout.orders.suspension.ParkedOrders;
import io.ordertimeout.orders.suspension.PaymentAttempts;
import io.ordertimeout.orders.suspension.ShardHeartbeats;
import io.ordertimeout.orders.suspension.SuspensionConditions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.stereotype.Repository;

/**
 * The statements that decide about orders whose next stage has come. {@link #cancel} is the only
 * statement that cancels, and it carries every condition itself: the order is pending, its deadline
 * has passed by Postgres's clock and by the payment watermark, the positions that Postgres itself
 * contains have reached the ends of the watermark, which are those of all partitions if an order
 * and its payment may be in different ones, everything that was published is reflected in Postgres,
 * the order is neither parked nor suspended, no payment of it is under way, and no interruption is
 * left by which its deadline has to move. What an instance remembers may be outdated, or ahead of a
 * Postgres that has lost commits; the statement is neither. Thread-safe.
 */
@Repository
public class DueOrderDecision {

  /**
   * An order that a decision left pending.
   *
   * @param id the row's id
   * @param stage its next stage
   * @param suspended whether a suspension concerns it
   * @param heldUntil until when payment attempts, or the lack of a confirmation, keep it waiting;
   *     null if nothing does
   */
  public record LeftPending(
      long id, Instant stage, boolean suspended, @Nullable Instant heldUntil) {

    /** Whether it was held until a time that is over. */
    public boolean isHeldNoMore(Instant now) {
      return heldUntil != null && !heldUntil.isAfter(now);
    }
  }

  private static final String PENDING = PendingOrders.GIVEN + " and " + PendingOrders.IS_PENDING;

  // Each condition is about the order d and states its parameters.
  private static final String MAY_BE_DECIDED =
      """
      %s
            and :watermark::timestamptz <= clock_timestamp()
            and %s
            and %s
            and %s
            and %s
            and %s
            and %s
            and %s
            and %s"""
          .formatted(
              PENDING,
              StoredPositions.REACH_ENDS,
              PartitionCounts.ENDS_SUFFICE,
              ReadBackState.IS_REFLECTED,
              ParkedOrders.NOT_PARKED,
              SuspensionConditions.NONE_BEING_PLACED,
              SuspensionConditions.NOT_SUSPENDED,
              Interruptions.NONE_LEFT,
              ShardHeartbeats.ARE_ALIVE);

  // By the watermark's time, all warnings are over that come before it. Of these, the last is sent.
  private static final String WARN =
      """
      with due as (
        select ctid as version from order_deadline d
        where %s <= least(:watermark::timestamptz, clock_timestamp())
          and %s
        order by id
        for update skip locked
      ), warned as (
        update order_deadline d
        set warned = coalesce(d.warned, 0) + (
          select count(*) from unnest(d.leads[coalesce(d.warned, 0) + 1:]) l
          where d.deadline - make_interval(secs => l) <= :watermark::timestamptz)
        where d.ctid = any(array(select version from due)) and %s
        returning d.id, d.order_id, d.shard, d.created_at, d.deadline, d.leads, d.warned,
          d.confirm_seconds, d.traceparent, clock_timestamp() as written_at
      )%s
      """
          .formatted(
              NextStage.WARNING,
              MAY_BE_DECIDED,
              PendingOrders.IS_PENDING,
              OutboxRows.INSERT_EXPIRING);

  private static final String EXTEND =
      """
      with locked as (
        select order_id, shard, channel, created_at, deadline, extended_until
        from order_deadline d
        where %s and %s and not %s
        order by id
        for update skip locked
      )
      update order_deadline e set deadline = x.deadline, extended_until = x.until
      from (
        select d.order_id, d.deadline + s.length as deadline, s.until
        from locked d cross join lateral (%s) s
        where s.length is not null
      ) x
      where e.order_id = any(array(select order_id from locked)) and e.order_id = x.order_id
      """
          .formatted(
              PENDING,
              SuspensionConditions.NOT_SUSPENDED,
              Interruptions.NONE_SINCE,
              Interruptions.STILL_TO_APPLY);

  private static final String ORDER_ID =
      "select order_id from order_deadline where id = ? and shard = ?";

  private static final String REFLECTED_ORDER_IDS =
      "select id, order_id from order_deadline d where %s and %s"
          .formatted(PENDING, ReadBackState.IS_REFLECTED);

  private final JdbcClient client;
  private final NextStage nextStage;
  private final ShardHeartbeats heartbeats;
  private final PaymentAttempts attempts;
  private final String cancel;
  private final String leftPending;
  private final String imminent;
  private final String takeUnconfirmed;

  DueOrderDecision(
      JdbcClient client,
      ShardHeartbeats heartbeats,
      PaymentAttempts attempts,
      NextStage nextStage) {
    this.client = client;
    this.nextStage = nextStage;
    this.heartbeats = heartbeats;
    this.attempts = attempts;
    this.cancel = cancel(attempts);
    this.leftPending = leftPending(attempts);
    this.imminent = imminent(attempts);
    this.takeUnconfirmed = takeUnconfirmed(attempts);
  }

  // A row that a payment is just writing is skipped instead of waited for, so that this statement
  // cannot be part of a deadlock. The next attempt finds the row settled.
  private static String cancel(PaymentAttempts attempts) {
    return """
        with due as (
          select ctid as version from order_deadline d
          where d.deadline + %s <= least(:watermark::timestamptz, clock_timestamp())
            and %s%s%s
          order by id
          for update skip locked
        ), cancelled as (
          update order_deadline d
          set state = 'CANCELLED', decided_at = clock_timestamp(), decided_by = 'EXPIRY'
          where d.ctid = any(array(select version from due)) and %s
          returning d.id, d.order_id, d.shard, d.created_at, d.deadline, d.decided_at,
            d.traceparent,
            -- The end of an attempt is not the time of Postgres.
            least(d.decided_at, greatest(d.deadline + %s, %s)) as due_at
        )%s
        """
        .formatted(
            NextStage.GRACE,
            MAY_BE_DECIDED,
            attempts.andNoneUnderWay(":watermark::timestamptz"),
            attempts.andConfirmed(),
            PendingOrders.IS_PENDING,
            NextStage.GRACE,
            attempts.wasHeldUntil(),
            OutboxRows.INSERT_CANCELLED);
  }

  private static String imminent(PaymentAttempts attempts) {
    return """
        select count(*) from order_deadline d
        where %s and d.deadline + %s <= :watermark::timestamptz%s%s
        """
        .formatted(
            PENDING,
            NextStage.GRACE,
            attempts.andNoneUnderWay(":watermark::timestamptz"),
            attempts.andConfirmed());
  }

  private static String takeUnconfirmed(PaymentAttempts attempts) {
    return """
        with due as (
          select ctid as version from order_deadline d
          where %s and d.cancel_unconfirmed is not true%s%s
          order by id
          for update skip locked
        )
        update order_deadline d set confirm_seconds = null
        where d.ctid = any(array(select version from due)) and %s
        returning order_id
        """
        .formatted(
            MAY_BE_DECIDED,
            attempts.andUnconfirmed(":watermark::timestamptz"),
            attempts.andNoneUnderWay(":watermark::timestamptz"),
            PendingOrders.IS_PENDING);
  }

  private static String leftPending(PaymentAttempts attempts) {
    return """
        select d.id, %s, %s as suspended, %s as held_until from order_deadline d where %s and %s
        """
        .formatted(
            NextStage.COLUMNS,
            SuspensionConditions.IS_SUSPENDED,
            attempts.heldUntil(),
            PENDING,
            ParkedOrders.NOT_PARKED);
  }

  /**
   * Cancels those of the orders that may be cancelled, and writes their events; one transaction.
   *
   * @param reflected the server of Postgres that reflects what was published; nothing is cancelled
   *     if another one answers, and no order of whose events some may be unread
   */
  public List<OrderCancelled> cancel(DueOrders due, ReflectedServer reflected) {
    return decision(cancel, due, reflected).query(OutboxRows::cancelled).list();
  }

  // On the server that decides afterwards: another one may have other orders under these ids.
  private long[] reflectedOf(DueOrders due, ReflectedServer by) {
    List<Long> reflected = new ArrayList<>();
    client
        .sql(REFLECTED_ORDER_IDS)
        .param("ids", due.ids())
        .param("shards", due.shards())
        .param("reflected", by.identity())
        .query(
            row -> {
              if (by.reflects(row.getString("order_id"))) {
                reflected.add(row.getLong("id"));
              }
            });
    return reflected.stream().mapToLong(Long::longValue).toArray();
  }

  /**
   * Takes the warnings off the orders that are over by the watermark's time, and writes the events
   * of those that are to be sent; one transaction.
   *
   * @param reflected as for {@link #cancel}
   */
  public List<OrderExpiring> warn(DueOrders due, ReflectedServer reflected) {
    return nextStage.areWarned()
        ? decision(WARN, due, reflected).query(OutboxRows::expiring).list()
        : List.of();
  }

  private StatementSpec decision(String statement, DueOrders due, ReflectedServer reflected) {
    Watermark watermark = due.watermark();
    return client
        .sql(statement)
        .params(nextStage.parameters())
        .params(attempts.parameters())
        .param("ids", reflected.isEntire() ? due.ids() : reflectedOf(due, reflected))
        .param("shards", due.shards())
        .param("watermark", parameter(watermark.time()))
        .params(StoredPositions.ends(watermark.ends(), watermark.topicIds()))
        .param("allPartitions", watermark.allPartitions())
        .params(heartbeats.aliveness())
        .param("reflected", reflected.identity());
  }

  /** Counts those of the orders that are due, and of which no payment is under way. */
  public int imminent(DueOrders due) {
    if (!attempts.areRead() && !nextStage.areWarned()) {
      return due.size();
    }
    return client
        .sql(imminent)
        .params(nextStage.parameters())
        .params(attempts.parameters())
        .param("ids", due.ids())
        .param("shards", due.shards())
        .param("watermark", parameter(due.watermark().time()))
        .query(Integer.class)
        .single();
  }

  /**
   * Has those of the orders wait for no confirmation any more for which none came in time, and that
   * are not cancelled without one; returns their ids. They have to be parked in the same
   * transaction.
   */
  public List<String> takeUnconfirmed(DueOrders due, ReflectedServer reflected) {
    return decision(takeUnconfirmed, due, reflected).query(String.class).list();
  }

  /** Extends the deadlines of those of the orders that were open during an interruption since. */
  public void extend(DueOrders due) {
    client.sql(EXTEND).param("ids", due.ids()).param("shards", due.shards()).update();
  }

  /** Returns those of the orders that are still pending and not parked. */
  public List<LeftPending> leftPending(DueOrders due) {
    return client
        .sql(leftPending)
        .params(attempts.parameters())
        .param("ids", due.ids())
        .param("shards", due.shards())
        .query(
            (row, number) ->
                new LeftPending(
                    row.getLong("id"),
                    nextStage.of(row),
                    row.getBoolean("suspended"),
                    instant(row, "held_until")))
        .list();
  }

  /** Returns the order's id, by which it can be parked. */
  public Optional<String> orderId(int shard, long id) {
    return client.sql(ORDER_ID).param(id).param(shard).query(String.class).optional();
  }
}
