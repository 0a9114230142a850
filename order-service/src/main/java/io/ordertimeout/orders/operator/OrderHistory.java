package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.order.OrderChanges.Made;
import io.ordertimeout.orders.order.OrderView;
import io.ordertimeout.orders.order.OutboxStore.Warning;
import io.ordertimeout.orders.order.PaymentConflicts;
import io.ordertimeout.orders.order.PaymentConflicts.PaymentWithoutEffect;
import io.ordertimeout.orders.order.Publication;
import io.ordertimeout.orders.outbox.EventId;
import io.ordertimeout.orders.suspension.Interruptions.Interruption;
import io.ordertimeout.orders.suspension.PaymentAttempts.Attempt;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
  public enum HistoryEventType {
    /** The shop created it. */
    CREATED,
    /** Its first event was stored and, if it was pending, its deadline was armed. */
    REGISTERED,
    /** A payment of it is under way. */
    ATTEMPT_STARTED,
    /** A payment of it is not under way any more, whatever its result. */
    ATTEMPT_ENDED,
    /** Its customer is warned that it is cancelled soon. */
    WARNED,
    /** The shop changed it: its deadline, or what is known of it. */
    CHANGED,
    /** Its deadline was moved by an interruption or an operator. */
    EXTENDED,
    /** An operator requested its cancellation. */
    CANCELLATION_REQUESTED,
    /** It was parked: it must not be cancelled for now. */
    PARKED,
    /** An operator released it. */
    RELEASED,
    /** An operator published a dead letter of it again. */
    REPLAYED,
    /** The customer paid. */
    PAID,
    /** The payment that settled it was delivered again, which changed nothing. */
    REDELIVERED,
    /**
     * Another payment changed nothing: the order was paid already, or closed as stale or exempt.
     */
    PAYMENT_WITHOUT_EFFECT,
    /** It was closed elsewhere, as stale, or by an operator. */
    CLOSED,
    /** It was cancelled. */
    CANCELLED,
    /** Kafka acknowledged its cancellation. */
    PUBLISHED,
    /** A payment met it after it was cancelled or closed. */
    CONFLICT,
    /** Kafka acknowledged the conflict. */
    CONFLICT_PUBLISHED,
    /** Somebody has said what became of the money. */
    CONFLICT_RESOLVED
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
      @Nullable Instant at, HistoryEventType what, String by, Map<String, String> details) {}

  /** The actions on orders that are entries of their histories. */
  static final Map<Kind, HistoryEventType> ACTIONS_ON_ORDERS =
      Map.of(
          Kind.EXTEND_ORDER, HistoryEventType.EXTENDED,
          Kind.CANCEL_ORDER, HistoryEventType.CANCELLATION_REQUESTED,
          Kind.RELEASE_ORDER, HistoryEventType.RELEASED,
          Kind.CLOSE_ORDER, HistoryEventType.CLOSED,
          Kind.RESOLVE_CONFLICT, HistoryEventType.CONFLICT_RESOLVED);

  private final OrderTimeoutProperties.Topics topics;

  OrderHistory(OrderTimeoutProperties properties) {
    this.topics = properties.topics();
  }

  /** Returns what has happened to an order, in order. */
  List<Entry> of(OrderFacts facts) {
    OrderView order = facts.order();
    List<DeadlineMove> moves = DeadlineMove.of(facts);
    List<Entry> entries = new ArrayList<>();
    if (order.createdAt() != null) {
      entries.add(
          entry(
              order.createdAt(),
              HistoryEventType.CREATED,
              "shop",
              details("policy", order.policy())));
    }
    entries.add(
        entry(
            facts.registeredAt(),
            HistoryEventType.REGISTERED,
            "intake",
            details(
                "shard", order.shard(), "deadline", DeadlineMove.first(order.deadline(), moves))));
    moves.stream()
        .filter(move -> move.interruption() != null)
        .map(OrderHistory::interrupted)
        .forEach(entries::add);
    facts.changes().stream().map(OrderHistory::changed).forEach(entries::add);
    facts.actions().forEach(action -> addAction(action, entries));
    facts.replays().stream().map(OrderHistory::replay).forEach(entries::add);
    if (facts.parked() != null) {
      entries.add(parked(facts.parked().parkedAt(), facts.parked().reason()));
    }
    facts.attempts().forEach(attempt -> addAttempt(attempt, entries));
    facts.warnings().forEach(warning -> entries.add(warned(order.orderId(), warning)));
    addDecision(facts, entries);
    facts.withoutEffect().forEach(payment -> entries.add(withoutEffect(order, payment)));
    facts.conflicts().forEach(conflict -> addConflict(order.orderId(), conflict, entries));
    // The creation comes first, even if the clock of the shop that stated its time was fast.
    entries.sort(
        Comparator.comparing((Entry entry) -> entry.what() != HistoryEventType.CREATED)
            .thenComparing(Entry::at, Comparator.nullsFirst(Comparator.naturalOrder())));
    return entries;
  }

  private static Entry changed(Made change) {
    Amount amount = change.amount();
    boolean isMove = !change.deadlineBefore().equals(change.deadlineAfter());
    return entry(
        change.madeAt(),
        HistoryEventType.CHANGED,
        "shop",
        details(
            "changedAt",
            change.changedAt(),
            "policy",
            change.setBy(),
            "before",
            isMove ? change.deadlineBefore() : null,
            "after",
            isMove ? change.deadlineAfter() : null,
            "channel",
            change.channel(),
            "paymentMethod",
            change.paymentMethod(),
            "amount",
            amount == null ? null : amount.value().toPlainString() + " " + amount.currency()));
  }

  private static void addAttempt(Attempt attempt, List<Entry> entries) {
    if (attempt.startedAt() != null) {
      entries.add(
          entry(
              attempt.startedAt(),
              HistoryEventType.ATTEMPT_STARTED,
              "shop",
              details("attempt", attempt.attemptId(), "until", attempt.until())));
    }
    if (attempt.endedAt() != null) {
      entries.add(
          entry(
              attempt.endedAt(),
              HistoryEventType.ATTEMPT_ENDED,
              "shop",
              details("attempt", attempt.attemptId())));
    }
  }

  private Entry warned(String orderId, Warning warning) {
    Publication publication = warning.publication();
    return entry(
        warning.writtenAt(),
        HistoryEventType.WARNED,
        "expiry",
        details(
            "warning",
            warning.number(),
            "leadTime",
            warning.leadTime(),
            "eventId",
            EventId.ofWarning(orderId, warning.number()),
            "publishedAt",
            publication == null ? null : publication.at(),
            "record",
            publication == null ? null : record(topics.expiring(), publication)));
  }

  private static Entry interrupted(DeadlineMove move) {
    Interruption interruption = Objects.requireNonNull(move.interruption());
    return entry(
        move.at(),
        HistoryEventType.EXTENDED,
        interruption.isPause() ? "pause" : "outage",
        details(
            "before",
            move.before(),
            "after",
            move.after(),
            "from",
            interruption.beganAt(),
            "to",
            interruption.endedAt()));
  }

  private static void addAction(OperatorAction action, List<Entry> entries) {
    // The row of a parked order is deleted by its release; the audit log keeps it.
    if (action.kind() == Kind.RELEASE_ORDER && action.before() != null) {
      String parkedAt = text(action.before(), "parkedAt");
      entries.add(
          parked(
              parkedAt.isEmpty() ? null : Instant.parse(parkedAt),
              text(action.before(), "reason")));
    }
    DeadlineMove move = DeadlineMove.byOperator(action).orElse(null);
    entries.add(
        entry(
            action.at(),
            Objects.requireNonNull(ACTIONS_ON_ORDERS.get(action.kind())),
            action.actor(),
            details(
                "reason",
                action.reason(),
                "payment",
                text(action.after(), "paymentId"),
                "resolution",
                text(action.after(), "resolution"),
                "before",
                move == null ? null : move.before(),
                "after",
                move == null ? null : move.after())));
  }

  private static Entry parked(@Nullable Instant at, String reason) {
    return entry(at, HistoryEventType.PARKED, "service", details("reason", reason));
  }

  private static Entry replay(OperatorAction action) {
    return entry(
        action.at(),
        HistoryEventType.REPLAYED,
        action.actor(),
        details(
            "reason",
            action.reason(),
            "deadLetter",
            action.subject(),
            "position",
            text(action.after(), "to"),
            "corrected",
            text(action.after(), "corrected")));
  }

  private static String text(@Nullable JsonNode state, String name) {
    return state == null ? "" : state.path(name).asString("");
  }

  private void addDecision(OrderFacts facts, List<Entry> entries) {
    OrderView order = facts.order();
    Instant at = order.decidedAt();
    switch (order.state()) {
      case PENDING -> {
        // Not decided yet.
      }
      case PAID ->
          entries.add(
              entry(
                  at,
                  HistoryEventType.PAID,
                  "payment " + order.paymentId(),
                  details("payment", order.paymentId(), "paidAt", facts.paidAt())));
      case CLOSED -> {
        if (order.isExempt()) {
          entries.add(
              entry(
                  at,
                  HistoryEventType.CLOSED,
                  "intake",
                  details("reason", "exempt by policy " + order.policy())));
          break;
        }
        switch (Objects.requireNonNull(order.decidedBy())) {
          case OPERATOR -> {
            // The operator's action is in the history already.
          }
          case STALE ->
              entries.add(
                  entry(
                      at,
                      HistoryEventType.CLOSED,
                      "intake",
                      details("reason", "first read long after its deadline")));
          default ->
              entries.add(
                  entry(
                      at,
                      HistoryEventType.CLOSED,
                      "shop",
                      details("closedAt", facts.closedAt(), "reason", facts.closeReason())));
        }
      }
      case CANCELLED -> {
        entries.add(
            entry(at, HistoryEventType.CANCELLED, "expiry", details("deadline", order.deadline())));
        Publication publication = facts.publication();
        if (publication != null) {
          entries.add(
              entry(
                  publication.at(),
                  HistoryEventType.PUBLISHED,
                  "relay",
                  details(
                      "eventId",
                      EventId.ofCancellation(order.orderId()),
                      "topic",
                      topics.cancelled(),
                      "record",
                      record(topics.cancelled(), publication))));
        }
      }
    }
  }

  private static Entry withoutEffect(OrderView order, PaymentWithoutEffect payment) {
    return entry(
        payment.detectedAt(),
        payment.paymentId().equals(order.paymentId())
            ? HistoryEventType.REDELIVERED
            : HistoryEventType.PAYMENT_WITHOUT_EFFECT,
        "payment " + payment.paymentId(),
        details("payment", payment.paymentId(), "paidAt", payment.paidAt()));
  }

  private void addConflict(
      String orderId, PaymentConflicts.Conflict conflict, List<Entry> entries) {
    entries.add(
        entry(
            conflict.detectedAt(),
            HistoryEventType.CONFLICT,
            "payment " + conflict.paymentId(),
            details("payment", conflict.paymentId(), "paidAt", conflict.paidAt())));
    Publication publication = conflict.publication();
    if (publication != null) {
      entries.add(
          entry(
              publication.at(),
              HistoryEventType.CONFLICT_PUBLISHED,
              "relay",
              details(
                  "payment",
                  conflict.paymentId(),
                  "eventId",
                  EventId.ofConflict(orderId, conflict.paymentId()),
                  "topic",
                  topics.conflict(),
                  "record",
                  record(topics.conflict(), publication))));
    }
  }

  private static @Nullable String record(String topic, Publication publication) {
    return publication.partition() == null || publication.offset() == null
        ? null
        : topic + "-" + publication.partition() + "@" + publication.offset();
  }

  private static Entry entry(
      @Nullable Instant at, HistoryEventType what, String by, Map<String, String> details) {
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
