package io.ordertimeout.orders.shard;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import io.ordertimeout.orders.suspension.ParkedOrders;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Counts what should have been decided and was not, in all shards: also in those that nobody owns,
 * of which no owner can tell. Every instance counts the same.
 */
@Component
public class OverdueOrders {

  /** Enough to raise an alarm; counting all of a long outage would only add to the load. */
  private static final int MOST_PER_SHARD = 100_000;

  private static final String COUNT =
      """
      select coalesce(sum(overdue.orders), 0)
      from generate_series(
        0, (select max(shard) from order_deadline where state = 'PENDING')) as s(shard)
      cross join lateral (
        select count(*) as orders from (
          select from order_deadline d
          where d.shard = s.shard and state = 'PENDING'
            and deadline < clock_timestamp() - make_interval(secs => ?)
            and not exists (select from parked_order p where p.order_id = d.order_id)
          limit ?
        ) late
      ) overdue
      """;

  private final JdbcTemplate jdbc;
  private final SchemaMigration schema;
  private final ParkedOrders parkedOrders;
  private final Shards shards;
  private final Duration overdueAfter;
  private final StepHealth step;
  private volatile long overdue;
  private volatile long parked;

  OverdueOrders(
      JdbcTemplate jdbc,
      SchemaMigration schema,
      ParkedOrders parkedOrders,
      Shards shards,
      StepHealthRegistry steps,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.jdbc = jdbc;
    this.schema = schema;
    this.parkedOrders = parkedOrders;
    this.shards = shards;
    this.overdueAfter =
        properties.reconciler().overdueAfter().plus(properties.expiry().settlementGrace());
    this.step = steps.step("overdue-orders");
    Gauge.builder("order.timeout.overdue", this, o -> o.overdue)
        .description("Pending orders of all shards, owned by anybody or not, long past due")
        .register(meters);
    Gauge.builder("order.timeout.parked", this, o -> o.parked)
        .description(
            "Pending orders of owned shards that are not cancelled for now, each for its reason")
        .register(meters);
  }

  /** Pending orders of all shards that should long have been decided, as last counted. */
  public long overdue() {
    return overdue;
  }

  /** Pending orders of this instance's shards that are parked, as last counted. */
  public long parked() {
    return parked;
  }

  @Scheduled(fixedDelay = 5, timeUnit = TimeUnit.SECONDS)
  void count() {
    if (!schema.isMigrated()) {
      return;
    }
    try {
      overdue =
          Objects.requireNonNull(
              jdbc.queryForObject(
                  COUNT, Long.class, overdueAfter.toMillis() / 1e3, MOST_PER_SHARD));
      parked = parkedOrders.count(shards.owned());
      step.succeeded();
    } catch (RuntimeException e) {
      step.failed("the numbers of overdue and parked orders stand still", e);
    }
  }
}
