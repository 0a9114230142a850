package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.postgres.Purgeable;
import io.ordertimeout.orders.suspension.ParkedOrders;
import io.ordertimeout.orders.suspension.PaymentAttempts;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Deletes orders whose decision and deadline no longer matter, with their events, once those are
 * published, and whatever parked them or was under way. Two instances that purge at the same time
 * skip each other's rows. Small batches keep the transactions short; O(purged orders) by indexes.
 *
 * <p>An order is kept until both its decision and its latest deadline are older than the retention
 * and than {@code stale-after}. The purge announces the horizon before it deletes anything, and no
 * order with an earlier deadline becomes pending again. If only the payment or closure of an order
 * is known, the deadline that its creation may still bring is at most {@code max-timeout} away. An
 * order that a policy exempts has no deadline.
 */
@Component
class SettledOrdersPurge implements Purgeable {

  private static final Logger log = LoggerFactory.getLogger(SettledOrdersPurge.class);

  /** SQL condition: all events of the order {@code d} are published. */
  private static final String IS_PUBLISHED =
      """
      not exists (
        select from outbox o
        where o.order_row = d.id
          and (o.published_at is null or (%s and o.written_at >= :openSince))
        offset 0)"""
          .formatted(OutboxRows.IS_OPEN_CONFLICT);

  private static final String CREATED =
      """
      select order_id from order_deadline d
      where state <> 'PENDING' and deadline is not null
        and greatest(decided_at, deadline, latest_deadline) < :before and %s
      order by greatest(decided_at, deadline, latest_deadline)
      limit :limit
      for update of d skip locked
      """
          .formatted(IS_PUBLISHED);

  private static final String EXEMPT =
      """
      select order_id from order_deadline d
      where deadline is null and created_at is not null and decided_at < :before and %s
      order by decided_at
      limit :limit
      for update of d skip locked
      """
          .formatted(IS_PUBLISHED);

  private static final String WITHOUT_CREATION =
      """
      select order_id from order_deadline d
      where deadline is null and decided_at < :before and %s
      order by decided_at
      limit :limit
      for update of d skip locked
      """
          .formatted(IS_PUBLISHED);

  private static final String DELETE_EVENTS =
      """
      delete from outbox
      where order_row = any(array(
        select id from order_deadline where order_id = any(:orderIds::text[])))
      """;

  private static final String DELETE_PAYMENTS_WITHOUT_EFFECT =
      "delete from payment_without_effect where order_id = any(:orderIds::text[])";

  private static final String DELETE_ORDERS =
      "delete from order_deadline where order_id = any(:orderIds::text[])";

  /** SQL condition: the order of a row with that alias is not known. */
  private static final String UNKNOWN =
      "not exists (select from order_deadline d where d.order_id = %s.order_id)";

  private final JdbcClient client;
  private final TransactionTemplate transactions;
  private final ParkedOrders parked;
  private final PaymentAttempts attempts;
  private final OrderChanges changes;
  private final DatabaseClock clock;
  private final Duration retention;
  private final Duration retentionWithoutCreation;
  private final Duration longestOpen;

  SettledOrdersPurge(
      JdbcClient client,
      TransactionTemplate transactions,
      ParkedOrders parked,
      PaymentAttempts attempts,
      OrderChanges changes,
      DatabaseClock clock,
      OrderTimeoutProperties properties) {
    this.client = client;
    this.transactions = transactions;
    this.parked = parked;
    this.attempts = attempts;
    this.changes = changes;
    this.clock = clock;
    OrderTimeoutProperties.Deadline deadline = properties.deadline();
    this.retention =
        deadline.retention().compareTo(deadline.staleAfter()) > 0
            ? deadline.retention()
            : deadline.staleAfter();
    this.retentionWithoutCreation = retention.plus(deadline.longestWait());
    this.longestOpen = properties.audit().retention();
  }

  @Override
  public void purge() {
    Instant before = clock.now().minus(retention);
    Instant beforeWithoutCreation = clock.now().minus(retentionWithoutCreation);
    client.sql(PurgeHorizon.ANNOUNCE).param("before", parameter(before)).update();
    int purged =
        purge(CREATED, before)
            + purge(EXEMPT, before)
            + purge(WITHOUT_CREATION, beforeWithoutCreation)
            + parked.purge(beforeWithoutCreation, UNKNOWN.formatted("p"))
            + attempts.purge(beforeWithoutCreation, UNKNOWN.formatted("a"))
            + changes.purge(beforeWithoutCreation, UNKNOWN.formatted("c"));
    if (purged > 0) {
      log.info("Purged {} rows of orders that were decided and due before {}", purged, before);
    }
  }

  private int purge(String selection, Instant before) {
    return Purgeable.inBatches(
        limit ->
            Objects.requireNonNull(
                transactions.execute(status -> purgeBatch(selection, before, limit))));
  }

  // In separate statements: while a row is locked, no conflict can be raised for its order, and
  // the later statements see all that were raised before.
  private int purgeBatch(String selection, Instant before, int limit) {
    String[] orderIds =
        client
            .sql(selection)
            .param("before", parameter(before))
            .param("openSince", parameter(clock.now().minus(longestOpen)))
            .param("limit", limit)
            .query(String.class)
            .list()
            .toArray(String[]::new);
    if (orderIds.length == 0) {
      return 0;
    }
    client.sql(DELETE_EVENTS).param("orderIds", orderIds).update();
    client.sql(DELETE_PAYMENTS_WITHOUT_EFFECT).param("orderIds", orderIds).update();
    parked.releaseAll(orderIds);
    attempts.deleteAll(orderIds);
    changes.deleteAll(orderIds);
    return client.sql(DELETE_ORDERS).param("orderIds", orderIds).update();
  }
}
