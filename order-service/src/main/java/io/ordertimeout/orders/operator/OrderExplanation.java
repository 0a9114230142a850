package io.ordertimeout.orders.operator;

import static io.ordertimeout.orders.outbox.ConflictKind.PAID_IN_TIME_DELIVERED_LATE;

import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.order.OrderView;
import io.ordertimeout.orders.order.PaymentConflicts.Conflict;
import io.ordertimeout.orders.order.PaymentConflicts.PaymentWithoutEffect;
import io.ordertimeout.orders.order.Publication;
import io.ordertimeout.orders.outbox.ConflictKind;
import io.ordertimeout.orders.outbox.EventId;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One sentence in plain English that states what became of an order and why, or what it waits for.
 * Text from outside is in quotation marks; times are in UTC, to the millisecond.
 */
final class OrderExplanation {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private final OrderFacts facts;
  private final OrderView order;
  private final List<String> clauses = new ArrayList<>();

  private OrderExplanation(OrderFacts facts) {
    this.facts = facts;
    this.order = facts.order();
  }

  /**
   * Explains an order.
   *
   * @param blockers what stands between a pending order and its decision
   * @param movesBy how far its deadline still has to move; null if it does not
   */
  static String of(OrderFacts facts, List<OrderBlocker> blockers, @Nullable Duration movesBy) {
    OrderExplanation explanation = new OrderExplanation(facts);
    switch (facts.order().state()) {
      case PENDING -> explanation.pending(blockers, movesBy);
      case PAID -> explanation.paid();
      case CLOSED -> explanation.closed();
      case CANCELLED -> explanation.cancelled();
    }
    explanation.conflicts();
    return String.join("; ", explanation.clauses) + ".";
  }

  private void pending(List<OrderBlocker> blockers, @Nullable Duration movesBy) {
    boolean isDue = blockers.stream().noneMatch(OrderBlocker.PaymentDeadline.class::isInstance);
    add((isDue ? "Due since " : "Waits for a payment until ") + deadline());
    if (order.grace() != null) {
      add("not cancelled before %s, after a grace".formatted(time(order.dueAt())));
    }
    if (movesBy != null) {
      add("the deadline still moves by %s because of an interruption".formatted(words(movesBy)));
    }
    for (OrderBlocker blocker : blockers) {
      if (blocker instanceof OrderBlocker.Parked parked) {
        add(
            "parked at %s, so that it is not cancelled until an operator releases it: %s"
                .formatted(time(parked.parkedAt()), quoted(parked.reason())));
      } else if (blocker instanceof OrderBlocker.Paused paused) {
        add(
            "held by pause %d, which %s placed, until %s: %s"
                .formatted(
                    paused.pauseId(),
                    quoted(paused.placedBy()),
                    paused.endsAt() == null ? "somebody ends it" : time(paused.endsAt()),
                    quoted(paused.reason())));
      } else if (blocker instanceof OrderBlocker.Held held) {
        add(
            "held by hold %d of shard %d until an operator lifts it: %s"
                .formatted(held.holdId(), held.shard(), quoted(held.detail())));
      } else if (blocker instanceof OrderBlocker.UnownedShard unowned) {
        add("no instance owns shard " + unowned.shard());
      } else if (blocker instanceof OrderBlocker.Confirmation confirmation) {
        add(
            "waits until %s for a confirmation that nothing can be paid any more"
                .formatted(time(confirmation.until())));
      } else if (blocker instanceof OrderBlocker.PaymentUnderWay attempt) {
        add(
            "%s is under way, so that it is not cancelled before %s"
                .formatted(
                    attempt.attemptId() == null
                        ? "a payment"
                        : "payment attempt " + quoted(attempt.attemptId()),
                    time(attempt.until())));
      } else if (blocker instanceof OrderBlocker.Watermark watermark) {
        add(
            "decided as soon as instance %s has read all payments up to then"
                .formatted(quoted(watermark.instance())));
      }
    }
    if (blockers.isEmpty()) {
      add("about to be decided");
    }
  }

  private void paid() {
    String payment = "payment %s%s".formatted(quoted(order.paymentId()), made(facts.paidAt()));
    Instant deadline = order.deadline();
    if (order.createdAt() == null || deadline == null) {
      add("Paid: %s; the creation of the order has not been read".formatted(payment));
    } else if (facts.paidAt() != null && facts.paidAt().isAfter(deadline)) {
      add(
          "Paid after the deadline %s, but before the order was cancelled: %s"
              .formatted(deadline(), payment));
    } else {
      add("Paid in time: %s; the deadline was %s".formatted(payment, deadline()));
    }
    add("read at " + time(order.decidedAt()));
    for (PaymentWithoutEffect other : facts.withoutEffect()) {
      boolean isSame = other.paymentId().equals(order.paymentId());
      add(
          isSame
              ? "delivered again at %s, which changed nothing".formatted(time(other.detectedAt()))
              : "a second payment %s arrived at %s and changed nothing"
                  .formatted(quoted(other.paymentId()), time(other.detectedAt())));
    }
    replays();
  }

  private void closed() {
    if (order.isExempt()) {
      exempt();
      return;
    }
    switch (Objects.requireNonNull(order.decidedBy())) {
      case STALE ->
          add(
              "Closed as stale at %s: the order was first read long after its deadline %s"
                  .formatted(time(order.decidedAt()), deadline()));
      case OPERATOR -> {
        Optional<OperatorAction> action = latest(Kind.CLOSE_ORDER);
        add(
            "Closed by %s at %s%s"
                .formatted(
                    action.map(a -> "operator " + quoted(a.actor())).orElse("an operator"),
                    time(order.decidedAt()),
                    action
                        .map(OperatorAction::reason)
                        .or(() -> Optional.ofNullable(facts.closeReason()))
                        .map(OrderExplanation::because)
                        .orElse("")));
      }
      default ->
          add(
              "Closed elsewhere%s%s; read at %s"
                  .formatted(
                      facts.closedAt() == null ? "" : " at " + time(facts.closedAt()),
                      because(facts.closeReason()),
                      time(order.decidedAt())));
    }
    add("nothing was published");
    replays();
  }

  private void exempt() {
    add(
        "Exempt by policy %s: it has no deadline and is not cancelled; registered at %s"
            .formatted(quoted(order.policy()), time(order.decidedAt())));
    for (PaymentWithoutEffect payment : facts.withoutEffect()) {
      add(
          "payment %s%s, arrived at %s"
              .formatted(
                  quoted(payment.paymentId()), made(payment.paidAt()), time(payment.detectedAt())));
    }
    replays();
  }

  private void cancelled() {
    Instant decidedAt = Objects.requireNonNull(order.decidedAt());
    // Its request has made the order due.
    latest(Kind.CANCEL_ORDER)
        .ifPresent(
            action ->
                add(
                    "Operator %s requested the cancellation at %s: %s"
                        .formatted(
                            quoted(action.actor()), time(action.at()), quoted(action.reason()))));
    String not = clauses.isEmpty() ? "Not" : "not";
    if (order.deadline() == null) {
      add("%s paid; cancelled at %s".formatted(not, time(decidedAt)));
    } else {
      add("%s paid by %s".formatted(not, deadline()));
      if (order.grace() != null) {
        add("nor within a grace of %s after it".formatted(words(order.grace())));
      }
      add("all payments up to then had been read");
      add("cancelled %s later".formatted(words(Duration.between(order.deadline(), decidedAt))));
    }
    published("published", facts.publication(), decidedAt, EventId.ofCancellation(order.orderId()));
  }

  private void conflicts() {
    for (Conflict conflict : facts.conflicts()) {
      boolean isInTime =
          ConflictKind.of(conflict.paidAt(), order.deadline()) == PAID_IN_TIME_DELIVERED_LATE;
      add(
          "payment %s%s, %s, arrived at %s: too late"
              .formatted(
                  quoted(conflict.paymentId()),
                  made(conflict.paidAt()),
                  isInTime ? "in time" : "after the deadline",
                  time(conflict.detectedAt())));
      published(
          "the conflict was published",
          conflict.publication(),
          conflict.detectedAt(),
          EventId.ofConflict(order.orderId(), conflict.paymentId()));
    }
  }

  private void published(
      String what, @Nullable Publication publication, Instant decidedAt, UUID eventId) {
    add(
        publication == null
            ? "not published yet"
            : "%s %s later as event %s"
                .formatted(what, words(Duration.between(decidedAt, publication.at())), eventId));
  }

  private void replays() {
    for (OperatorAction replay : facts.replays()) {
      add(
          "operator %s replayed dead letter %s of the order at %s"
              .formatted(quoted(replay.actor()), quoted(replay.subject()), time(replay.at())));
    }
  }

  private Optional<OperatorAction> latest(Kind kind) {
    return facts.actions().stream()
        .filter(action -> action.kind() == kind)
        .reduce((first, second) -> second);
  }

  /** The deadline, with what set and moved it. */
  private String deadline() {
    List<String> causes = new ArrayList<>();
    String policy = order.policy();
    if (policy != null) {
      causes.add(
          "set by "
              + switch (policy) {
                case "PAY_BY" -> "the order's own deadline";
                case "TIMEOUT" -> "the order's own timeout";
                case "DEFAULT" -> "the default timeout";
                default -> "policy " + quoted(policy);
              });
    }
    String moved =
        DeadlineMove.of(facts).stream()
            .map(OrderExplanation::mover)
            .distinct()
            .collect(Collectors.joining(" and "));
    if (!moved.isEmpty()) {
      causes.add("moved by " + moved);
    }
    return time(order.deadline())
        + (causes.isEmpty() ? "" : " (" + String.join(", ", causes) + ")");
  }

  private static String mover(DeadlineMove move) {
    if (move.action() != null) {
      return "operator " + quoted(move.action().actor());
    }
    if (move.interruption() == null) {
      return "the shop";
    }
    return move.interruption().isPause() ? "a pause" : "an outage";
  }

  private void add(String clause) {
    clauses.add(clause);
  }

  private static String made(@Nullable Instant paidAt) {
    return paidAt == null ? "" : " made at " + time(paidAt);
  }

  private static String because(@Nullable String reason) {
    return reason == null || reason.isEmpty() ? "" : ": " + quoted(reason);
  }

  private static String quoted(@Nullable String text) {
    return "“" + text + "”";
  }

  private static String time(@Nullable Instant instant) {
    return instant == null ? "an unknown time" : TIME.format(instant);
  }

  /** A duration in its two largest units. */
  private static String words(Duration duration) {
    Duration length = duration.isNegative() ? Duration.ZERO : duration;
    if (length.compareTo(Duration.ofSeconds(1)) < 0) {
      return length.toMillis() + " ms";
    }
    Duration rounded = length.truncatedTo(ChronoUnit.SECONDS);
    StringBuilder words = new StringBuilder();
    int units = 0;
    long[] values = {
      rounded.toDays(), rounded.toHoursPart(), rounded.toMinutesPart(), rounded.toSecondsPart()
    };
    String[] names = {"d", "h", "min", "s"};
    for (int i = 0; i < values.length && units < 2; i++) {
      if (values[i] > 0 || units > 0) {
        units++;
        if (values[i] > 0) {
          words.append(words.isEmpty() ? "" : " ").append(values[i]).append(' ').append(names[i]);
        }
      }
    }
    return words.toString();
  }
}
