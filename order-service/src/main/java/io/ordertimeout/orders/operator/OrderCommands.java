package io.ordertimeout.orders.operator;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.operator.AuditedChange.Effect;
import io.ordertimeout.orders.order.DecidedBy;
import io.ordertimeout.orders.order.OrderDeadline;
import io.ordertimeout.orders.order.OrderDeadlineRepository;
import io.ordertimeout.orders.order.OrderState;
import io.ordertimeout.orders.order.OrderView;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.position.ReadBackState;
import io.ordertimeout.orders.suspension.ParkedOrders;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The operator commands on orders. A change that has returned is in force on all instances; the
 * wheel that holds the order is updated within a second. Thread-safe.
 */
@Component
public class OrderCommands {

  /**
   * A deadline.
   *
   * @param extendedUntil the end of the last interruption that has moved it, from which its history
   *     follows
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record DeadlineOf(@Nullable Instant deadline, @Nullable Instant extendedUntil) {}

  private record StateOf(OrderState state, @Nullable Instant deadline) {}

  private final OrderDeadlineRepository orders;
  private final ParkedOrders parked;
  private final AuditLog audit;
  private final AuditedChange change;
  private final BulkChange bulk;
  private final ReadBackState readBack;
  private final DatabaseClock clock;
  private final Duration maxTimeout;

  OrderCommands(
      OrderDeadlineRepository orders,
      ParkedOrders parked,
      AuditLog audit,
      AuditedChange change,
      BulkChange bulk,
      ReadBackState readBack,
      DatabaseClock clock,
      OrderTimeoutProperties properties) {
    this.orders = orders;
    this.parked = parked;
    this.audit = audit;
    this.change = change;
    this.bulk = bulk;
    this.readBack = readBack;
    this.clock = clock;
    this.maxTimeout = properties.deadline().maxTimeout();
  }

  /**
   * Moves the deadline of a pending order to a later time.
   *
   * @throws UnknownSubjectException if there is no such order
   * @throws ImpossibleChangeException if the order is decided, or the deadline is not later than
   *     the present one, or too late
   */
  public ChangeResult extend(
      Requester requester, String orderId, Instant newDeadline, String reason) {
    Instant deadline = newDeadline.truncatedTo(ChronoUnit.MICROS);
    return change.make(
        extension(requester, orderId, deadline, reason),
        () -> {
          OrderDeadline row = known(orderId);
          OrderView order = row.view();
          requirePending(order);
          Instant current = Objects.requireNonNull(order.deadline());
          if (current.equals(deadline)) {
            return Effect.unchanged(orderId);
          }
          requireLater(deadline, current, "the order's deadline");
          requireLater(deadline, clock.readExact(), "now");
          Instant latest = clock.now().plus(maxTimeout);
          if (deadline.isAfter(latest)) {
            throw new ImpossibleChangeException(
                "the deadline %s is later than %s, order-timeout.deadline.max-timeout from now"
                    .formatted(deadline, latest));
          }
          orders.moveDeadline(orderId, deadline);
          return Effect.changed(
              orderId,
              new DeadlineOf(current, row.extendedUntil()),
              new DeadlineOf(deadline, null));
        });
  }

  private static void requireLater(Instant deadline, Instant other, String what) {
    if (!deadline.isAfter(other)) {
      throw new ImpossibleChangeException(
          "the deadline %s is not later than %s, %s; use the cancel command to cancel the order"
              .formatted(deadline, what, other));
    }
  }

  /**
   * Closes a pending order, which then has no timeout any more. No event is published.
   *
   * @throws UnknownSubjectException if there is no such order
   * @throws ImpossibleChangeException if it was decided otherwise
   */
  public ChangeResult close(Requester requester, String orderId, String reason) {
    return change.make(
        request(requester, Kind.CLOSE_ORDER, orderId, reason),
        () -> {
          OrderView order = known(orderId).view();
          if (order.decidedBy() == DecidedBy.OPERATOR) {
            return Effect.unchanged(orderId);
          }
          requirePending(order);
          orders.close(orderId, reason);
          return Effect.changed(
              orderId,
              new StateOf(order.state(), order.deadline()),
              new StateOf(OrderState.CLOSED, order.deadline()));
        });
  }

  /**
   * Makes a pending order due immediately, without its grace. It is then cancelled like every due
   * order: not before all payments until now are read, and not while expiry is paused or held.
   *
   * @throws UnknownSubjectException if there is no such order
   * @throws ImpossibleChangeException if it was decided otherwise
   */
  public ChangeResult cancel(Requester requester, String orderId, String reason) {
    return change.make(
        request(requester, Kind.CANCEL_ORDER, orderId, reason),
        () -> {
          OrderDeadline row = known(orderId);
          OrderView order = row.view();
          boolean askedBefore = audit.latest(orderId, Kind.CANCEL_ORDER).isPresent();
          if (askedBefore && order.state() == OrderState.CANCELLED) {
            return Effect.unchanged(orderId);
          }
          requirePending(order);
          Instant now = clock.readExact();
          Instant dueAt = Objects.requireNonNull(order.dueAt());
          if (!dueAt.isAfter(now)) {
            if (askedBefore) {
              return Effect.unchanged(orderId);
            }
            throw new ImpossibleChangeException(
                "the order has been due since " + dueAt + " and is about to be decided");
          }
          orders.makeDue(orderId, now);
          return Effect.changed(
              orderId,
              new DeadlineOf(order.deadline(), row.extendedUntil()),
              new DeadlineOf(now, null));
        });
  }

  /**
   * Lets a parked order be decided again.
   *
   * @throws UnknownSubjectException if no such order is parked
   */
  public ChangeResult release(Requester requester, String orderId, String reason) {
    return change.make(
        request(requester, Kind.RELEASE_ORDER, orderId, reason),
        () -> {
          requireReflected(orderId);
          ParkedOrders.Parked was = parked.find(orderId).orElse(null);
          if (was == null) {
            if (audit.latest(orderId, Kind.RELEASE_ORDER).isPresent()) {
              return Effect.unchanged(orderId);
            }
            throw new UnknownSubjectException("no order '" + orderId + "' is parked");
          }
          parked.release(orderId);
          return Effect.changed(orderId, was, null);
        });
  }

  /** The same as {@link #extend} for each of the orders; an order that cannot be changed stays. */
  public List<BulkResult<String>> extendAll(
      Requester requester, List<String> orderIds, Instant newDeadline, String reason) {
    Instant deadline = newDeadline.truncatedTo(ChronoUnit.MICROS);
    return bulk.make(
        requester,
        orderIds,
        orderId -> extension(requester, orderId, deadline, reason),
        (one, orderId) -> extend(one, orderId, deadline, reason));
  }

  /** The same as {@link #close} for each of the orders; an order that cannot be changed stays. */
  public List<BulkResult<String>> closeAll(
      Requester requester, List<String> orderIds, String reason) {
    return bulk.make(
        requester,
        orderIds,
        orderId -> request(requester, Kind.CLOSE_ORDER, orderId, reason),
        (one, orderId) -> close(one, orderId, reason));
  }

  /** The same as {@link #cancel} for each of the orders; an order that cannot be changed stays. */
  public List<BulkResult<String>> cancelAll(
      Requester requester, List<String> orderIds, String reason) {
    return bulk.make(
        requester,
        orderIds,
        orderId -> request(requester, Kind.CANCEL_ORDER, orderId, reason),
        (one, orderId) -> cancel(one, orderId, reason));
  }

  private static AuditLog.Request extension(
      Requester requester, String orderId, Instant deadline, String reason) {
    return requester.request(
        Kind.EXTEND_ORDER, reason, Map.of("orderId", orderId, "deadline", deadline.toString()));
  }

  private static AuditLog.Request request(
      Requester requester, Kind kind, String orderId, String reason) {
    return requester.request(kind, reason, Map.of("orderId", orderId));
  }

  private OrderDeadline known(String orderId) {
    OrderDeadline order =
        orders
            .lock(orderId)
            .orElseThrow(() -> new UnknownSubjectException("there is no order '" + orderId + "'"));
    // While the row is locked, no decision of it can be restored.
    requireReflected(orderId);
    return order;
  }

  private void requireReflected(String orderId) {
    if (!readBack.isReflected(orderId)) {
      throw new DecisionsUnknownException();
    }
  }

  private static void requirePending(OrderView order) {
    if (order.state() != OrderState.PENDING) {
      throw new ImpossibleChangeException(
          "the order has been %s since %s, and a decision is never changed"
              .formatted(order.state(), order.decidedAt()));
    }
  }
}
