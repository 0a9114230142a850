package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.order.OrderChanges;
import io.ordertimeout.orders.order.OrderDeadline;
import io.ordertimeout.orders.order.OrderDeadlineRepository;
import io.ordertimeout.orders.order.OrderState;
import io.ordertimeout.orders.order.OrderView;
import io.ordertimeout.orders.order.OutboxStore;
import io.ordertimeout.orders.order.PaymentConflicts;
import io.ordertimeout.orders.suspension.Interruptions;
import io.ordertimeout.orders.suspension.Interruptions.Lifetime;
import io.ordertimeout.orders.suspension.ParkedOrders;
import io.ordertimeout.orders.suspension.PaymentAttempts;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Looks up one order with its history and what it waits for. Thread-safe. */
@Component
public class OrderLookup {

  private final OrderDeadlineRepository orders;
  private final OrderHistory history;
  private final OrderBlockers blockers;
  private final Interruptions interruptions;
  private final AuditLog audit;
  private final ParkedOrders parked;
  private final PaymentAttempts attempts;
  private final OrderChanges changes;
  private final PaymentConflicts conflicts;
  private final OutboxStore outbox;

  OrderLookup(
      OrderDeadlineRepository orders,
      OrderHistory history,
      OrderBlockers blockers,
      Interruptions interruptions,
      AuditLog audit,
      ParkedOrders parked,
      PaymentAttempts attempts,
      OrderChanges changes,
      PaymentConflicts conflicts,
      OutboxStore outbox) {
    this.orders = orders;
    this.history = history;
    this.blockers = blockers;
    this.interruptions = interruptions;
    this.audit = audit;
    this.parked = parked;
    this.attempts = attempts;
    this.changes = changes;
    this.conflicts = conflicts;
    this.outbox = outbox;
  }

  /** Finds everything that is known of an order. */
  @Transactional(readOnly = true)
  public Optional<OrderDetails> find(String orderId) {
    return orders.findByOrderId(orderId).map(this::details);
  }

  private OrderDetails details(OrderDeadline row) {
    String orderId = row.orderId();
    OrderView order = row.view(outbox.lateByMillis(List.of(orderId)).get(orderId));
    Optional<Lifetime> lifetime = lifetime(order, row.extendedUntil());
    Duration movesBy =
        order.state() == OrderState.PENDING
            ? lifetime.flatMap(interruptions::stillToApply).orElse(null)
            : null;
    List<OrderBlocker> waitsFor = blockers.of(order);
    OrderFacts facts = facts(row, order, lifetime);
    return new OrderDetails(
        order, OrderExplanation.of(facts, waitsFor, movesBy), movesBy, waitsFor, history.of(facts));
  }

  private OrderFacts facts(OrderDeadline row, OrderView order, Optional<Lifetime> lifetime) {
    String orderId = order.orderId();
    return new OrderFacts(
        order,
        row.registeredAt(),
        row.extendedUntil(),
        row.paidAt(),
        row.closedAt(),
        row.closeReason(),
        // Subjects of other kinds may have the same name: pause 1 is not order 1.
        audit.of(orderId).stream()
            .filter(action -> OrderHistory.ACTIONS_ON_ORDERS.containsKey(action.kind()))
            .toList(),
        audit.replaysOf(orderId),
        parked.find(orderId).orElse(null),
        lifetime.map(interruptions::applied).orElse(List.of()),
        conflicts.of(orderId),
        conflicts.withoutEffect(orderId),
        attempts.of(orderId),
        changes.of(orderId),
        outbox.warnings(orderId),
        outbox.cancellation(orderId).orElse(null));
  }

  private static Optional<Lifetime> lifetime(OrderView order, @Nullable Instant extendedUntil) {
    Instant createdAt = order.createdAt();
    Instant deadline = order.deadline();
    return createdAt == null || deadline == null
        ? Optional.empty()
        : Optional.of(
            new Lifetime(order.shard(), order.channel(), createdAt, deadline, extendedUntil));
  }
}
