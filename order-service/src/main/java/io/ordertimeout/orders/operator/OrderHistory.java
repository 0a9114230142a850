package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.deadline.OrderDeadline;
import io.ordertimeout.orders.deadline.OrderView;
import io.ordertimeout.orders.deadline.PaymentConflicts;
import io.ordertimeout.orders.deadline.PublishedEvents;
import io.ordertimeout.orders.suspension.Interruptions;
import io.ordertimeout.orders.suspension.Interruptions.Interruption;
import io.ordertimeout.orders.suspension.Interruptions.Lifetime;
import io.ordertimeout.orders.suspension.ParkedOrders;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.databind.JsonNode;

/**
 * The history of one order, assembled from what the tables contain anyway; nothing is stored for it
 * alone. Thread-safe.
 */
@Component
public class OrderHistory {

  /** What can happen to an order. */
  public enum Happening {
    /** The shop created it. */
    CREATED,
    /** Its first event was stored and, if it was pending, its deadline was armed. */
    REGISTERED,
    /** Its deadline was moved by an interruption or an operator. */
    EXTENDED,
    /** An operator requested its cancellation. */
    CANCELLATION_REQUESTED,
    /** It was parked: it must not be cancelled for now. */
    PARKED,
    /** An operator released it. */
    RELEASED,
    /** The customer paid. */
    PAID,
    /** It was closed elsewhere, as stale, or by an operator. */
    CLOSED,
    /** It was cancelled. */
    CANCELLED,
    /** Kafka acknowledged its cancellation. */
    PUBLISHED,
    /** A payment met it after it was cancelled or closed. */
    CONFLICT,
    /** Kafka acknowledged the conflict. */
    CONFLICT_PUBLISHED
  }

  /**
   * One entry of a history.
   *
   * @param at when it happened; null if the time is not known
   * @param what what happened
   * @param by who or what caused it
   * @param details what else is known of it
   */
  public record Entry(
      @Nullable Instant at, Happening what, String by, Map<String, String> details) {}

  private static final Map<Kind, Happening> ACTIONS_ON_ORDERS =
      Map.of(
          Kind.EXTEND_ORDER, Happening.EXTENDED,
          Kind.CANCEL_ORDER, Happening.CANCELLATION_REQUESTED,
          Kind.RELEASE_ORDER, Happening.RELEASED,
          Kind.CLOSE_ORDER, Happening.CLOSED);

  private final AuditLog audit;
  private final ParkedOrders parked;
  private final Interruptions interruptions;
  private final PaymentConflicts conflicts;
  private final PublishedEvents published;

  OrderHistory(
      AuditLog audit,
      ParkedOrders parked,
      Interruptions interruptions,
      PaymentConflicts conflicts,
      PublishedEvents published) {
    this.audit = audit;
    this.parked = parked;
    this.interruptions = interruptions;
    this.conflicts = conflicts;
    this.published = published;
  }

  /**
   * Returns what has happened to an order, in order.
   *
   * @param lifetime what an interruption has to know of the order; empty while its creation is not
   *     known
   */
  List<Entry> of(OrderDeadline row, Optional<Lifetime> lifetime) {
    OrderView order = row.view();
    List<Entry> entries = new ArrayList<>();
    if (order.createdAt() != null) {
      entries.add(
          entry(order.createdAt(), Happening.CREATED, "shop", details("policy", order.policy())));
    }
    // Subjects of other kinds may have the same name: pause 1 is not order 1.
    List<OperatorAction> actions =
        audit.of(order.orderId()).stream()
            .filter(action -> ACTIONS_ON_ORDERS.containsKey(action.kind()))
            .toList();
    entries.add(
        entry(
            row.registeredAt(),
            Happening.REGISTERED,
            "intake",
            details("shard", order.shard(), "deadline", firstDeadline(row, actions))));
    lifetime.map(interruptions::applied).orElse(List.of()).stream()
        .map(OrderHistory::extended)
        .forEach(entries::add);
    actions.stream().map(OrderHistory::action).forEach(entries::add);
    parked
        .find(order.orderId())
        .map(p -> entry(p.parkedAt(), Happening.PARKED, "service", details("reason", p.reason())))
        .ifPresent(entries::add);
    addDecision(row, entries);
    conflicts.of(order.orderId()).forEach(conflict -> addConflict(conflict, entries));
    // The creation comes first, even if the clock of the shop that stated its time was fast.
    entries.sort(
        Comparator.comparing((Entry entry) -> entry.what() != Happening.CREATED)
            .thenComparing(Entry::at, Comparator.nullsFirst(Comparator.naturalOrder())));
    return entries;
  }

  /** Returns the deadline before anything moved it; null if that is not known. */
  private static @Nullable String firstDeadline(OrderDeadline row, List<OperatorAction> actions) {
    OrderView order = row.view();
    Instant deadline = order.deadline();
    if (order.createdAt() == null || deadline == null || row.extendedUntil() != null) {
      return null;
    }
    return actions.stream()
        .map(action -> deadline(action.before()))
        .filter(before -> !before.isEmpty())
        .findFirst()
        .orElse(deadline.toString());
  }

  private static String deadline(@Nullable JsonNode state) {
    return state == null ? "" : state.path("deadline").asString("");
  }

  private static Entry extended(Interruption interruption) {
    return entry(
        interruption.endedAt(),
        Happening.EXTENDED,
        interruption.isPause() ? "pause" : "outage",
        details("from", interruption.beganAt(), "to", interruption.endedAt()));
  }

  private static Entry action(OperatorAction action) {
    String before = deadline(action.before());
    String after = deadline(action.after());
    boolean isMoved = !before.equals(after);
    return entry(
        action.at(),
        Objects.requireNonNull(ACTIONS_ON_ORDERS.get(action.kind())),
        action.actor(),
        details(
            "reason",
            action.reason(),
            "before",
            isMoved ? before : null,
            "after",
            isMoved ? after : null));
  }

  private void addDecision(OrderDeadline row, List<Entry> entries) {
    OrderView order = row.view();
    Instant at = order.decidedAt();
    switch (order.state()) {
      case PENDING -> {
        // Not decided yet.
      }
      case PAID ->
          entries.add(
              entry(
                  at,
                  Happening.PAID,
                  "payment " + order.paymentId(),
                  details("paidAt", row.paidAt())));
      case CLOSED -> {
        switch (Objects.requireNonNull(order.decidedBy())) {
          case OPERATOR -> {
            // The operator's action is in the history already.
          }
          case STALE ->
              entries.add(
                  entry(
                      at,
                      Happening.CLOSED,
                      "intake",
                      details("reason", "first read long after its deadline")));
          default ->
              entries.add(
                  entry(
                      at,
                      Happening.CLOSED,
                      "shop",
                      details("closedAt", row.closedAt(), "reason", row.closeReason())));
        }
      }
      case CANCELLED -> {
        entries.add(
            entry(at, Happening.CANCELLED, "expiry", details("deadline", order.deadline())));
        published
            .cancellationPublishedAt(order.orderId())
            .ifPresent(
                publishedAt ->
                    entries.add(entry(publishedAt, Happening.PUBLISHED, "relay", Map.of())));
      }
    }
  }

  private static void addConflict(PaymentConflicts.Conflict conflict, List<Entry> entries) {
    entries.add(
        entry(
            conflict.detectedAt(),
            Happening.CONFLICT,
            "payment " + conflict.paymentId(),
            details("paidAt", conflict.paidAt())));
    if (conflict.publishedAt() != null) {
      entries.add(
          entry(
              conflict.publishedAt(),
              Happening.CONFLICT_PUBLISHED,
              "relay",
              details("payment", conflict.paymentId())));
    }
  }

  private static Entry entry(
      @Nullable Instant at, Happening what, String by, Map<String, String> details) {
    return new Entry(at, what, by, details);
  }

  /** Builds a map from pairs of names and values, leaving out values that are not known. */
  private static Map<String, String> details(@Nullable Object... pairs) {
    Map<String, String> details = new TreeMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      Object value = pairs[i + 1];
      if (value != null && !value.toString().isEmpty()) {
        details.put(String.valueOf(pairs[i]), value.toString());
      }
    }
    return details;
  }
}
