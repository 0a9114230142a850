package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.operator.status.InstanceReports;
import io.ordertimeout.orders.order.OrderState;
import io.ordertimeout.orders.order.OrderView;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.suspension.ExpiryHolds;
import io.ordertimeout.orders.suspension.ExpiryPauses;
import io.ordertimeout.orders.suspension.ParkedOrders;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.springframework.stereotype.Component;

/** Finds out why a pending order is not decided yet. Thread-safe. */
@Component
class OrderBlockers {

  private final ParkedOrders parked;
  private final ExpiryPauses pauses;
  private final ExpiryHolds holds;
  private final InstanceReports reports;
  private final DatabaseClock clock;
  private final Duration settlementGrace;

  OrderBlockers(
      ParkedOrders parked,
      ExpiryPauses pauses,
      ExpiryHolds holds,
      InstanceReports reports,
      DatabaseClock clock,
      OrderTimeoutProperties properties) {
    this.parked = parked;
    this.pauses = pauses;
    this.holds = holds;
    this.reports = reports;
    this.clock = clock;
    this.settlementGrace = properties.expiry().settlementGrace();
  }

  /** Returns what stands between the order and its decision; empty if it is decided. */
  List<OrderBlocker> of(OrderView order) {
    List<OrderBlocker> blockers = new ArrayList<>();
    if (order.state() != OrderState.PENDING) {
      return blockers;
    }
    Instant dueAt = Objects.requireNonNull(order.deadline()).plus(settlementGrace);
    if (dueAt.isAfter(clock.readExact())) {
      blockers.add(new OrderBlocker.PaymentDeadline(dueAt));
    }
    parked
        .find(order.orderId())
        .ifPresent(p -> blockers.add(new OrderBlocker.Parked(p.reason(), p.parkedAt())));
    pauses
        .holding(order.channel())
        .forEach(
            p ->
                blockers.add(
                    new OrderBlocker.Paused(
                        p.id(), p.channel(), p.placedBy(), p.reason(), p.endsAt())));
    holds.inForce().stream()
        .filter(hold -> hold.shard() == order.shard())
        .forEach(
            hold -> blockers.add(new OrderBlocker.Held(hold.id(), hold.shard(), hold.detail())));
    Optional<String> owner = reports.ownerOf(order.shard());
    if (owner.isEmpty()) {
      blockers.add(new OrderBlocker.UnownedShard(order.shard()));
    } else if (blockers.isEmpty()) {
      blockers.add(new OrderBlocker.Watermark(order.shard(), owner.get()));
    }
    return blockers;
  }
}
