package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.deadline.OrderDeadline;
import io.ordertimeout.orders.deadline.OrderDeadlineRepository;
import io.ordertimeout.orders.deadline.OrderState;
import io.ordertimeout.orders.deadline.OrderView;
import io.ordertimeout.orders.suspension.Interruptions;
import io.ordertimeout.orders.suspension.Interruptions.Lifetime;
import java.time.Duration;
import java.time.Instant;
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

  OrderLookup(
      OrderDeadlineRepository orders,
      OrderHistory history,
      OrderBlockers blockers,
      Interruptions interruptions) {
    this.orders = orders;
    this.history = history;
    this.blockers = blockers;
    this.interruptions = interruptions;
  }

  /** Finds everything that is known of an order. */
  @Transactional(readOnly = true)
  public Optional<OrderDetails> find(String orderId) {
    return orders.findByOrderId(orderId).map(this::details);
  }

  private OrderDetails details(OrderDeadline row) {
    OrderView order = row.view();
    Optional<Lifetime> lifetime = lifetime(order, row.extendedUntil());
    Duration movesBy =
        order.state() == OrderState.PENDING
            ? lifetime.flatMap(interruptions::stillToApply).orElse(null)
            : null;
    return new OrderDetails(order, movesBy, blockers.of(order), history.of(row, lifetime));
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
