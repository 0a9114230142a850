package io.ordertimeout.orders.order;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.postgres.Purgeable;
import io.ordertimeout.orders.suspension.ShardHeartbeats;
import io.ordertimeout.orders.suspension.Suspensions;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Deletes old actions from the audit log, and the pauses, holds and outages that were over long
 * ago. O(what is deleted) by indexes.
 *
 * <p>An interruption is kept while it may still move a deadline: until every order that lived
 * through it is decided or was extended by it. An order with a deadline {@code d} was created, or
 * last extended, after {@code d} minus {@code max-timeout}. So an interruption that ended that long
 * before the earliest deadline of a pending order no longer matters to any of them, and no order
 * that is due before the horizon of {@link PurgeHorizon} becomes pending any more.
 */
@Component
class HistoryPurge implements Purgeable {

  private static final Logger log = LoggerFactory.getLogger(HistoryPurge.class);

  // The epoch, because a time far before it cannot be read. By shard, in the order of the index:
  // where Postgres expects few pending orders, it would read them all.
  private static final String EARLIEST_DEADLINE =
      """
      select greatest('epoch', least(
        %s,
        (
          select min(d.deadline)
          from generate_series(
            0, (select max(shard) from order_deadline where state = 'PENDING')) as s(shard)
          cross join lateral (
            select o.deadline from order_deadline o
            where o.shard = s.shard and o.state = 'PENDING'
            order by o.deadline, o.id
            limit 1
          ) d
        )))
      """
          .formatted(PurgeHorizon.SQL);

  private final JdbcClient client;
  private final AuditLog audit;
  private final Suspensions suspensions;
  private final ShardHeartbeats heartbeats;
  private final DatabaseClock clock;
  private final Duration retention;
  private final Duration longestWait;

  HistoryPurge(
      JdbcClient client,
      AuditLog audit,
      Suspensions suspensions,
      ShardHeartbeats heartbeats,
      DatabaseClock clock,
      OrderTimeoutProperties properties) {
    this.client = client;
    this.audit = audit;
    this.suspensions = suspensions;
    this.heartbeats = heartbeats;
    this.clock = clock;
    this.retention = properties.audit().retention();
    this.longestWait = properties.deadline().longestWait();
  }

  @Override
  public void purge() {
    Instant before = clock.now().minus(retention);
    Instant unneeded = earliest(before, earliestDeadline().minus(longestWait));
    int purged =
        Purgeable.inBatches(limit -> audit.purge(before, limit))
            + Purgeable.inBatches(limit -> suspensions.purge(unneeded, limit))
            + Purgeable.inBatches(limit -> heartbeats.purgeOutages(unneeded, limit));
    if (purged > 0) {
      log.info("Purged {} audited actions, pauses, holds and outages", purged);
    }
  }

  private Instant earliestDeadline() {
    return client.sql(EARLIEST_DEADLINE).query(OffsetDateTime.class).single().toInstant();
  }

  private static Instant earliest(Instant one, Instant other) {
    return one.isBefore(other) ? one : other;
  }
}
