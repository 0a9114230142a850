package io.ordertimeout.orders.deadline;

import static io.ordertimeout.orders.platform.postgres.ResultSets.parameter;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.suspension.ParkedOrders;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Deletes orders and conflicts that are older than the retention. Every instance runs the purge;
 * two instances that purge at the same time do no harm. Small batches keep the transactions short.
 */
@Component
class SettledOrdersPurge {

  private static final Logger log = LoggerFactory.getLogger(SettledOrdersPurge.class);
  private static final int BATCH = 5_000;

  private static final String PURGE_SETTLED =
      """
      delete from order_deadline where order_id in (
        select order_id from order_deadline
        where state <> 'PENDING' and decided_at < ?
        order by decided_at limit ?
      )
      """;

  private static final String PURGE_CONFLICTS =
      """
      delete from payment_conflict where (order_id, payment_id) in (
        select order_id, payment_id from payment_conflict
        where detected_at < ?
        order by detected_at limit ?
      )
      """;

  private static final String NOT_PENDING =
      """
      not exists (
        select from order_deadline d where d.order_id = p.order_id and d.state = 'PENDING')""";

  private final JdbcTemplate jdbc;
  private final ParkedOrders parked;
  private final DatabaseClock clock;
  private final Duration retention;
  private final StepHealth health;

  SettledOrdersPurge(
      JdbcTemplate jdbc,
      ParkedOrders parked,
      DatabaseClock clock,
      StepHealthRegistry registry,
      OrderTimeoutProperties properties) {
    this.jdbc = jdbc;
    this.parked = parked;
    this.clock = clock;
    this.health = registry.step("purge");
    this.retention = properties.deadline().retention();
  }

  @Scheduled(
      fixedDelayString = "${order-timeout.deadline.purge-interval:1m}",
      initialDelayString = "${order-timeout.deadline.purge-interval:1m}")
  void purge() {
    try {
      Instant before = clock.now().minus(retention);
      int purged = purge(PURGE_SETTLED, before) + purge(PURGE_CONFLICTS, before);
      purged += parked.purge(before, NOT_PENDING);
      if (purged > 0) {
        log.info("Purged {} rows settled before {}", purged, before);
      }
      health.succeeded();
    } catch (RuntimeException e) {
      health.failed("settled orders are kept until the next purge", e);
    }
  }

  private int purge(String statement, Instant before) {
    int total = 0;
    int deleted;
    do {
      deleted = jdbc.update(statement, parameter(before), BATCH);
      total += deleted;
    } while (deleted == BATCH && !Thread.currentThread().isInterrupted());
    return total;
  }
}
