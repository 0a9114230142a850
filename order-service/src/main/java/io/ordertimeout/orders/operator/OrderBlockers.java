package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.operator.status.InstanceReports;
import io.ordertimeout.orders.order.OrderState;
import io.ordertimeout.orders.order.OrderView;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.suspension.ParkedOrders;
import io.ordertimeout.orders.suspension.PaymentAttempts;
import io.ordertimeout.orders.suspension.Suspension;
import io.ordertimeout.orders.suspension.Suspensions;
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
  private final PaymentAttempts attempts;
  private final Suspensions suspensions;
  private final InstanceReports reports;
  private final DatabaseClock clock;
  private final Duration settlementGrace;

  OrderBlockers(
      ParkedOrders parked,
      PaymentAttempts attempts,
      Suspensions suspensions,
      InstanceReports reports,
      DatabaseClock clock,
      OrderTimeoutProperties properties) {
    this.parked = parked;
    this.attempts = attempts;
    this.suspensions = suspensions;
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
    Instant now = clock.readExact();
    Instant dueAt = Objects.requireNonNull(order.dueAt()).plus(settlementGrace);
    if (dueAt.isAfter(now)) {
      blockers.add(new OrderBlocker.PaymentDeadline(dueAt));
    }
    Duration confirm = order.confirm();
    if (confirm != null && !attempts.isConfirmed(order.orderId())) {
      blockers.add(
          new OrderBlocker.Confirmation(Objects.requireNonNull(order.deadline()).plus(confirm)));
    }
    attempts
        .underWay(order.orderId(), Objects.requireNonNull(order.deadline()), now)
        .forEach(
            attempt ->
                blockers.add(
                    new OrderBlocker.PaymentUnderWay(
                        attempt.attemptId().isEmpty() ? null : attempt.attemptId(),
                        Objects.requireNonNull(attempt.until()))));
    parked
        .find(order.orderId())
        .ifPresent(p -> blockers.add(new OrderBlocker.Parked(p.reason(), p.parkedAt())));
    suspensions.concerning(order.channel(), order.shard()).forEach(s -> blockers.add(blocker(s)));
    Optional<String> owner = reports.ownerOf(order.shard());
    if (owner.isEmpty()) {
      blockers.add(new OrderBlocker.UnownedShard(order.shard()));
    } else if (blockers.isEmpty()) {
      blockers.add(new OrderBlocker.Watermark(order.shard(), owner.get()));
    }
    return blockers;
  }

  private static OrderBlocker blocker(Suspension by) {
    Integer shard = by.shard();
    return shard == null
        ? new OrderBlocker.Paused(by.id(), by.channel(), by.placedBy(), by.reason(), by.endsAt())
        : new OrderBlocker.Held(by.id(), shard, by.reason());
  }
}
