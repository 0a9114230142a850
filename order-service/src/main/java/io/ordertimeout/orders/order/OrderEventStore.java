package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.order.OrderState.PENDING;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.OrderEventStatements.Row;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.platform.kafka.PartitionCounts;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.suspension.PaymentAttempt;
import io.ordertimeout.orders.suspension.PaymentAttempts;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Stores batches of events and determines the outcome of each event: the table "Which event meets
 * which state" of the documentation, as code. Storing a batch again changes nothing. Thread-safe.
 */
@Component
public class OrderEventStore {

  private static final Logger log = LoggerFactory.getLogger(OrderEventStore.class);

  /** No order with a later deadline is purged. */
  private static final Duration NEVER_PURGED_WITHIN = Duration.ofMinutes(30);

  private final OrderEventStatements statements;
  private final PaymentConflicts paymentConflicts;
  private final PaymentAttempts paymentAttempts;
  private final OrderChanges orderChanges;
  private final PartitionCounts partitionCounts;
  private final DatabaseClock clock;
  private final Duration staleAfter;

  OrderEventStore(
      OrderEventStatements statements,
      PaymentConflicts paymentConflicts,
      PaymentAttempts paymentAttempts,
      OrderChanges orderChanges,
      PartitionCounts partitionCounts,
      DatabaseClock clock,
      OrderTimeoutProperties properties) {
    this.statements = statements;
    this.paymentConflicts = paymentConflicts;
    this.paymentAttempts = paymentAttempts;
    this.orderChanges = orderChanges;
    this.partitionCounts = partitionCounts;
    this.clock = clock;
    this.staleAfter = properties.deadline().staleAfter();
  }

  /**
   * Stores the batch in the surrounding transaction.
   *
   * @throws org.springframework.dao.DataAccessException if Postgres rejected it or is unavailable;
   *     what it has stored by then must not be committed
   */
  public StoredBatch store(OrderEventBatch batch) {
    BatchOutcome outcome = new BatchOutcome();
    if (!batch.created().isEmpty()) {
      outcome.create(batch.created());
    }
    if (!batch.settled().isEmpty()) {
      outcome.settle(batch.settled());
    }
    if (!batch.attempts().isEmpty()) {
      outcome.attempt(batch.attempts());
    }
    if (!batch.changes().isEmpty()) {
      outcome.change(batch.changes());
    }
    if (outcome.misplaced > 0) {
      partitionCounts.recordMisplaced();
    }
    return outcome.result();
  }

  /** The outcome of one batch, as it is being stored. */
  private final class BatchOutcome {

    private final List<PendingOrder> toArm = new ArrayList<>();
    private final List<PendingOrder> toDisarm = new ArrayList<>();
    private List<OutboxEvent> conflicts = List.of();
    private final Map<EventKind, Map<Outcome, Integer>> outcomes = new EnumMap<>(EventKind.class);
    private final Map<String, BigDecimal> paidAmounts = new HashMap<>();
    private int misplaced;
    private int secondPayments;
    private @Nullable Long secondPaymentOf;

    void create(List<OrderCreated> events) {
      Map<String, OrderCreated> first = new LinkedHashMap<>();
      for (OrderCreated event : events) {
        if (first.putIfAbsent(event.orderId(), event) != null) {
          count(EventKind.CREATED, Outcome.DUPLICATE);
        }
      }
      for (Row row : changed(register(first.values()))) {
        first.remove(row.orderId());
        if (row.state() == PENDING) {
          toArm.add(row.pending());
          count(EventKind.CREATED, Outcome.REGISTERED);
        } else {
          countMisplaced(row);
          count(EventKind.CREATED, outcomeOfSettled(row));
        }
      }
      // Delivered again. The wheel may not have been notified the first time.
      for (Row row : find(first.keySet()).values()) {
        count(EventKind.CREATED, Outcome.DUPLICATE);
        if (row.state() == PENDING) {
          toArm.add(row.pending());
        }
      }
    }

    private static Outcome outcomeOfSettled(Row row) {
      if (row.isExempt()) {
        return Outcome.EXEMPT;
      }
      return row.decidedBy() == DecidedBy.STALE ? Outcome.STALE : Outcome.SETTLED_BEFORE;
    }

    /** Registers orders; an interruption does not bring back an order that may have been purged. */
    private List<Row> register(Collection<OrderCreated> orders) {
      List<Row> registered = statements.register(orders, staleAfter);
      Instant before = clock.now().minus(NEVER_PURGED_WITHIN);
      List<String> longDue =
          registered.stream()
              .filter(row -> row.state() == PENDING && row.isDueBefore(before))
              .map(Row::orderId)
              .toList();
      if (longDue.isEmpty()) {
        return registered;
      }
      Map<String, Row> closed = byOrder(statements.closePurged(longDue));
      return registered.stream().map(row -> closed.getOrDefault(row.orderId(), row)).toList();
    }

    /** Makes the changes that were read before the creations. */
    private List<Row> changed(List<Row> registered) {
      if (!orderChanges.areRead() || registered.isEmpty()) {
        return registered;
      }
      List<String> stale =
          registered.stream()
              .filter(row -> row.decidedBy() == DecidedBy.STALE)
              .map(Row::orderId)
              .toList();
      Map<String, Row> changed =
          byOrder(orderChanges.make(registered.stream().map(Row::orderId).toList(), stale));
      return registered.stream().map(row -> changed.getOrDefault(row.orderId(), row)).toList();
    }

    void settle(List<OrderSettled> events) {
      Map<String, OrderSettled> first = new HashMap<>();
      for (OrderSettled event : events) {
        // Of a payment and a closure in one batch, the earlier record decides.
        first.merge(event.orderId(), event, this::earlier);
      }
      // By identity: a payment that one batch contains twice settles once and is a duplicate once.
      Set<OrderSettled> deciding = Collections.newSetFromMap(new IdentityHashMap<>());
      Map<String, Row> rows = byOrder(statements.settle(first.values()));
      for (Row row : rows.values()) {
        OrderSettled event = Objects.requireNonNull(first.get(row.orderId()));
        deciding.add(event);
        countMisplaced(row);
        toDisarm.add(new PendingOrder(row.id(), row.shard(), 0));
        count(kind(event), row.createdAt() == null ? Outcome.AHEAD_OF_CREATION : Outcome.SETTLED);
        Amount amount = row.amount();
        if (amount != null && event instanceof OrderSettled.Paid) {
          paidAmounts.merge(amount.currency(), amount.value(), BigDecimal::add);
        }
      }
      List<OrderSettled> late = events.stream().filter(e -> !deciding.contains(e)).toList();
      if (!late.isEmpty()) {
        settledLate(late, rows);
      }
    }

    private void settledLate(List<OrderSettled> late, Map<String, Row> settledNow) {
      List<String> unknown =
          late.stream()
              .map(OrderSettled::orderId)
              .filter(orderId -> !settledNow.containsKey(orderId))
              .distinct()
              .toList();
      Map<String, Row> rows = new HashMap<>(settledNow);
      // A second statement, because only its snapshot is sure to contain what stopped the first.
      rows.putAll(find(unknown));
      List<OrderSettled.Paid> conflicting = new ArrayList<>();
      List<OrderSettled.Paid> withoutEffect = new ArrayList<>();
      for (OrderSettled event : late) {
        Row row = rows.get(event.orderId());
        if (row == null) {
          throw new IllegalStateException(
              "the order was purged while its event was being stored; storing it again will succeed");
        }
        countMisplaced(event.shard(), row);
        // A former owner of the shard may have settled the order after its wheel was rebuilt.
        toDisarm.add(new PendingOrder(row.id(), row.shard(), 0));
        Outcome outcome = lateOutcome(event, row);
        if (outcome == Outcome.CONFLICT && event instanceof OrderSettled.Paid payment) {
          conflicting.add(payment);
        } else if (event instanceof OrderSettled.Paid payment) {
          withoutEffect.add(payment);
        }
        count(kind(event), outcome);
      }
      if (secondPaymentOf != null) {
        log.warn(
            "{} payments arrived for orders that are already paid, the last for row {}",
            secondPayments,
            secondPaymentOf);
      }
      if (!withoutEffect.isEmpty()) {
        paymentConflicts.keepWithoutEffect(withoutEffect);
      }
      if (!conflicting.isEmpty()) {
        conflicts = paymentConflicts.raise(conflicting);
      }
    }

    /** Stores attempts. An order that is due may be decided once one has ended. */
    void attempt(List<PaymentAttempt> events) {
      paymentAttempts.store(events);
      Map<String, Row> rows =
          find(events.stream().map(PaymentAttempt::orderId).distinct().toList());
      for (PaymentAttempt event : events) {
        Row row = rows.get(event.orderId());
        countMisplaced(event.shard(), row);
        Outcome outcome = outcomeOfAttempt(event, row);
        count(EventKind.ATTEMPT, outcome);
        if (outcome == Outcome.ENDED && row != null && row.isDueBefore(clock.now())) {
          toArm.add(row.pending());
        }
      }
    }

    private static Outcome outcomeOfAttempt(PaymentAttempt event, @Nullable Row row) {
      if (row == null) {
        return Outcome.AHEAD_OF_CREATION;
      }
      if (row.state() != PENDING) {
        return row.isExempt() ? Outcome.EXEMPT : Outcome.TOO_LATE;
      }
      return event.isEnd() ? Outcome.ENDED : Outcome.UNDER_WAY;
    }

    /** Changes orders; the wheels follow. The change of an unknown order waits for its creation. */
    void change(List<OrderChange> events) {
      orderChanges.store(events);
      List<String> orderIds = events.stream().map(OrderChange::orderId).distinct().toList();
      Map<String, Row> rows = new HashMap<>(find(orderIds));
      List<String> unknown = orderIds.stream().filter(id -> !rows.containsKey(id)).toList();
      if (!unknown.isEmpty()) {
        orderChanges.lockUnknown(unknown);
        rows.putAll(find(unknown));
      }
      Map<String, Row> changed = byOrder(orderChanges.make(rows.keySet(), List.of()));
      changed.values().forEach(row -> toArm.add(row.pending()));
      rows.putAll(changed);
      for (OrderChange event : events) {
        Row row = rows.get(event.orderId());
        countMisplaced(event.shard(), row);
        count(EventKind.CHANGED, outcomeOfChange(row, changed.containsKey(event.orderId())));
      }
    }

    private static Outcome outcomeOfChange(@Nullable Row row, boolean isChanged) {
      if (row == null) {
        return Outcome.AHEAD_OF_CREATION;
      }
      if (isChanged) {
        return Outcome.CHANGED;
      }
      return row.isExempt() ? Outcome.EXEMPT : Outcome.TOO_LATE;
    }

    private Outcome lateOutcome(OrderSettled event, Row row) {
      if (event instanceof OrderSettled.Paid payment) {
        return switch (row.state()) {
          case PAID -> {
            if (payment.paymentId().equals(row.paymentId())) {
              yield Outcome.DUPLICATE;
            }
            secondPayments++;
            secondPaymentOf = row.id();
            yield Outcome.SECOND_PAYMENT;
          }
          case CANCELLED -> Outcome.CONFLICT;
          // No event was published for an order closed as stale, so nothing conflicts with it.
          case CLOSED -> {
            if (row.isExempt()) {
              yield Outcome.EXEMPT;
            }
            yield row.decidedBy() == DecidedBy.STALE ? Outcome.TOO_LATE : Outcome.CONFLICT;
          }
          case PENDING -> throw new IllegalStateException("pending although settled: " + row.id());
        };
      }
      return row.state() == OrderState.CLOSED ? Outcome.DUPLICATE : Outcome.TOO_LATE;
    }

    private OrderSettled earlier(OrderSettled one, OrderSettled other) {
      return Comparator.comparing(OrderSettled::recordedAt).compare(one, other) <= 0 ? one : other;
    }

    private static EventKind kind(OrderSettled event) {
      return event instanceof OrderSettled.Paid ? EventKind.PAID : EventKind.CLOSED;
    }

    private void countMisplaced(int readFrom, @Nullable Row row) {
      if (row != null && row.isShardKnown() && row.shard() != readFrom) {
        misplaced++;
      }
    }

    private void countMisplaced(Row row) {
      if (row.settledElsewhere()) {
        misplaced++;
      }
    }

    private Map<String, Row> find(Collection<String> orderIds) {
      return orderIds.isEmpty() ? Map.of() : byOrder(statements.find(orderIds));
    }

    private static Map<String, Row> byOrder(List<Row> rows) {
      return rows.stream().collect(Collectors.toMap(Row::orderId, Function.identity()));
    }

    private void count(EventKind kind, Outcome outcome) {
      assert outcome.isPossibleFor(kind) : kind + " " + outcome;
      outcomes
          .computeIfAbsent(kind, first -> new EnumMap<>(Outcome.class))
          .merge(outcome, 1, Integer::sum);
    }

    StoredBatch result() {
      return new StoredBatch(toArm, toDisarm, conflicts, outcomes, paidAmounts, misplaced);
    }
  }
}
