package io.ordertimeout.orders.deadline;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.OrderTimeoutProperties.AfterOutage;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxRows;
import io.ordertimeout.orders.suspension.ExpiryHolds;
import io.ordertimeout.orders.suspension.ExpiryPauses;
import io.ordertimeout.orders.suspension.Interruptions;
import io.ordertimeout.orders.suspension.ParkedOrders;
import io.ordertimeout.orders.suspension.ShardHeartbeats;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/**
 * The statement that decides due orders. It is the only one that cancels, and it carries every
 * condition itself: that the order is pending, that its deadline has passed by Postgres's clock,
 * that the payment watermark has passed it, that nothing holds or pauses it, and that no
 * interruption lies behind that its deadline is still to move by.
 */
@Repository
public class DueOrderDecision {

  /**
   * An order that the decision left pending.
   *
   * @param id the row's id
   * @param deadline its deadline
   * @param paused whether a pause holds it
   */
  public record LeftPending(long id, Instant deadline, boolean paused) {}

  // Rows that a payment is just writing are skipped, not waited for: so this statement can take no
  // part in a deadlock, and it finds them settled the next time.
  private static final String CANCEL =
      """
      with due as (
        select order_id from order_deadline d
        where id = any(?::bigint[]) and shard = ? and state = 'PENDING'
          and deadline + make_interval(secs => ?) <= least(?::timestamptz, clock_timestamp())
          and %s
          and %s
          and %s
          and %s
          and %s
        order by id
        for update skip locked
      ), cancelled as (
        update order_deadline d
        set state = 'CANCELLED', decided_at = clock_timestamp(), decided_by = 'EXPIRY'
        from due
        where d.order_id = due.order_id and d.state = 'PENDING'
        returning d.order_id, d.shard, d.created_at, d.deadline, d.decided_at, d.traceparent
      )
      insert into outbox (kind, order_id, shard, created_at, deadline, cancelled_at, traceparent)
      select 'ORDER_CANCELLED', order_id, shard, created_at, deadline, decided_at, traceparent
      from cancelled
      returning
        id, kind, order_id, payment_id, shard, created_at, deadline, cancelled_at, paid_at,
        traceparent, written_at
      """
          .formatted(
              ParkedOrders.NOT_PARKED,
              ExpiryHolds.NOT_HELD,
              ExpiryPauses.NOT_PAUSED,
              Interruptions.NONE_LEFT,
              ShardHeartbeats.IS_ALIVE);

  private static final String LEFT_PENDING =
      """
      select id, deadline, exists (select %s) as paused from order_deadline d
      where id = any(?::bigint[]) and shard = ? and state = 'PENDING' and %s
      """
          .formatted(ExpiryPauses.HOLDING, ParkedOrders.NOT_PARKED);

  private static final String FOR_EVER = Duration.ofDays(1_000_000).toString();

  private final JdbcTemplate jdbc;

  private final double graceSeconds;
  private final String longestSilence;

  DueOrderDecision(JdbcTemplate jdbc, OrderTimeoutProperties properties) {
    this.jdbc = jdbc;
    OrderTimeoutProperties.Expiry settings = properties.expiry();
    this.graceSeconds = settings.settlementGrace().toMillis() / 1e3;
    this.longestSilence =
        settings.afterOutage() == AfterOutage.EXTEND_BY_OUTAGE
            ? settings.outageAfter().toString()
            : FOR_EVER;
  }

  /** Cancels those of the orders that may be, and writes their events; one transaction. */
  public List<OutboxEvent> cancel(int shard, long[] ids, Instant watermark) {
    return jdbc.query(
        CANCEL,
        OutboxRows::event,
        ids,
        shard,
        graceSeconds,
        watermark.atOffset(ZoneOffset.UTC),
        shard,
        shard,
        longestSilence);
  }

  /** Those of the orders that are still pending and not parked. */
  public List<LeftPending> leftPending(int shard, long[] ids) {
    return jdbc.query(
        LEFT_PENDING,
        (rs, row) ->
            new LeftPending(
                rs.getLong("id"),
                rs.getObject("deadline", OffsetDateTime.class).toInstant(),
                rs.getBoolean("paused")),
        ids,
        shard);
  }
}
