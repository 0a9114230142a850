package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.OrderDeadline;
import io.ordertimeout.orders.deadline.OrderState;
import io.ordertimeout.orders.operator.status.InstanceReports;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.suspension.ExpiryHolds;
import io.ordertimeout.orders.suspension.ExpiryPauses;
import io.ordertimeout.orders.suspension.Interruptions;
import io.ordertimeout.orders.suspension.ParkedOrders;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** What is still to happen to one order, and what stands in the way. Thread-safe. */
@Component
class OrderBlockers {

  private static final String STILL_TO_APPLY =
      """
      select extract(epoch from s.length) as seconds
      from order_deadline d cross join lateral (%s) s
      where d.order_id = ? and s.length is not null
      """
          .formatted(Interruptions.STILL_TO_APPLY);

  private static final String PAUSED_BY =
      """
      select p.id, p.placed_by, p.reason, p.channel
      from order_deadline d cross join lateral (
        select id, placed_by, reason, p.channel %s) p
      where d.order_id = ? order by p.id
      """
          .formatted(ExpiryPauses.HOLDING);

  private final ParkedOrders parked;
  private final ExpiryHolds holds;
  private final InstanceReports reports;
  private final DatabaseClock clock;
  private final Duration settlementGrace;
  private final JdbcTemplate jdbc;

  OrderBlockers(
      ParkedOrders parked,
      ExpiryHolds holds,
      InstanceReports reports,
      DatabaseClock clock,
      OrderTimeoutProperties properties,
      JdbcTemplate jdbc) {
    this.parked = parked;
    this.holds = holds;
    this.reports = reports;
    this.clock = clock;
    this.settlementGrace = properties.expiry().settlementGrace();
    this.jdbc = jdbc;
  }

  /** By how much its deadline is still to move, because of interruptions; null if by nothing. */
  @Nullable Duration movesBy(OrderDeadline order) {
    if (order.state() != OrderState.PENDING) {
      return null;
    }
    return jdbc
        .query(STILL_TO_APPLY, (rs, row) -> rs.getDouble("seconds"), order.orderId())
        .stream()
        .findFirst()
        .map(seconds -> Duration.ofMillis((long) (seconds * 1e3)))
        .orElse(null);
  }

  /** What stands between it and its decision, in words; empty if it is decided. */
  List<String> waitsFor(OrderDeadline order) {
    if (order.state() != OrderState.PENDING) {
      return List.of();
    }
    List<String> reasons = new ArrayList<>();
    Instant due = Objects.requireNonNull(order.deadline()).plus(settlementGrace);
    Instant now = clock.ask();
    if (due.isAfter(now)) {
      reasons.add(
          "its payment deadline, in " + Duration.ofSeconds(Duration.between(now, due).toSeconds()));
    }
    parked
        .find(order.orderId())
        .ifPresent(
            p -> reasons.add("an operator to release it, since it is parked: " + p.reason()));
    jdbc.query(
        PAUSED_BY,
        rs -> {
          reasons.add(
              "the end of pause %d of %s by %s: %s"
                  .formatted(
                      rs.getLong("id"),
                      rs.getString("channel") == null ? "all channels" : "its channel",
                      rs.getString("placed_by"),
                      rs.getString("reason")));
        },
        order.orderId());
    holds.inForce().stream()
        .filter(hold -> hold.shard() == order.shard())
        .forEach(
            hold ->
                reasons.add(
                    "hold %d of its shard to be lifted: %s".formatted(hold.id(), hold.detail())));
    Optional<String> owner = reports.ownerOf(order.shard());
    if (owner.isEmpty()) {
      reasons.add("an instance that serves shard " + order.shard());
    } else if (reasons.isEmpty()) {
      reasons.add("the payment watermark of its shard, on instance " + owner.get());
    }
    return reasons;
  }
}
