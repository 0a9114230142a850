package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.HistoryEvent.Attempt;
import io.ordertimeout.it.oracle.HistoryEvent.Cancellation;
import io.ordertimeout.it.oracle.HistoryEvent.Change;
import io.ordertimeout.it.oracle.HistoryEvent.Closing;
import io.ordertimeout.it.oracle.HistoryEvent.Conflict;
import io.ordertimeout.it.oracle.HistoryEvent.Creation;
import io.ordertimeout.it.oracle.HistoryEvent.Doubt;
import io.ordertimeout.it.oracle.HistoryEvent.Payment;
import io.ordertimeout.it.oracle.HistoryEvent.Settling;
import io.ordertimeout.it.oracle.HistoryEvent.Warning;
import io.ordertimeout.it.oracle.Violation.Kind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks the history of one order against the promises. All input must be stored, the outbox empty
 * and all output read.
 *
 * <p>Where the promises leave the outcome open, for example for a payment appended after the
 * deadline, the judge accepts every outcome that they allow and then checks its consequences
 * exactly.
 */
final class Judge {

  /** When an order was paid. */
  enum Payments {
    NONE,
    IN_TIME,
    /** One may have been in time, and none certainly was. */
    UNDECIDABLE,
    TOO_LATE
  }

  /** For runs in which no order is stale when it is first read. */
  static final Instant NOTHING_STALE = Instant.MIN;

  private final OrderHistory order;
  private final Instant now;

  /** Whether the deadline was past for so long that the order must not be cancelled. */
  private final boolean stale;

  private final @Nullable Creation creation;
  private final @Nullable OrderRow row;
  private final List<Violation> violations = new ArrayList<>();

  private Judge(OrderHistory order, Instant now, Instant staleBefore) {
    this.order = order;
    this.now = now;
    this.creation = order.creation();
    this.stale = creation != null && creation.deadline().isBefore(staleBefore);
    this.row = order.row();
  }

  /**
   * Returns the promises that the history breaks.
   *
   * @param now Postgres's clock when the table was read
   * @param staleBefore the deadline before which orders were stale when they were first read
   */
  static List<Violation> judge(OrderHistory order, Instant now, Instant staleBefore) {
    Judge judge = new Judge(order, now, staleBefore);
    judge.state();
    judge.doubts();
    judge.decision();
    judge.cancellations();
    judge.conflicts();
    judge.holds();
    judge.changes();
    judge.warnings();
    return judge.violations;
  }

  /**
   * Returns whether the record was certainly visible before the deadline. Its timestamp alone does
   * not prove that, because the broker stamps a record before it is visible.
   */
  private static boolean inTime(Settling settling, Instant deadline) {
    return settling.visibleBy().plus(ClockOffset.ALLOWED_SKEW).isBefore(deadline);
  }

  /** Returns whether the record was certainly appended at the deadline or after it. */
  private static boolean tooLate(Settling settling, Instant deadline) {
    return !settling.appendedAt().minus(ClockOffset.ALLOWED_SKEW).isBefore(deadline);
  }

  private static boolean undecidable(Settling settling, Instant deadline) {
    return !inTime(settling, deadline) && !tooLate(settling, deadline);
  }

  /** Returns whether an order was cancelled although a settling may have been in time. */
  static boolean undecidable(OrderHistory order) {
    Creation creation = order.creation();
    return creation != null
        && !order.cancellations().isEmpty()
        && order.settlings().anyMatch(settling -> undecidable(settling, creation.deadline()));
  }

  /** Returns when the order was paid. */
  static Payments payments(OrderHistory order) {
    Creation creation = order.creation();
    if (creation == null || order.payments().isEmpty()) {
      return Payments.NONE;
    }
    Instant deadline = creation.deadline();
    if (order.payments().stream().anyMatch(payment -> inTime(payment, deadline))) {
      return Payments.IN_TIME;
    }
    return order.payments().stream().anyMatch(payment -> undecidable(payment, deadline))
        ? Payments.UNDECIDABLE
        : Payments.TOO_LATE;
  }

  /** Compares the row with the records. */
  private void state() {
    boolean known = creation != null || isSettled();
    if (row == null) {
      if (known) {
        broken(Kind.LOST, "the table does not contain the order");
      }
      return;
    }
    if (!known) {
      broken(Kind.UNEXPLAINED_STATE, "no record mentions the order in the table");
      return;
    }
    switch (row.state()) {
      case "PENDING" -> pending();
      case "PAID" -> paid(row);
      case "CLOSED" -> {
        if (order.closures().isEmpty() && !stale) {
          broken(Kind.UNEXPLAINED_STATE, "closed without a closing event");
        }
      }
      case "CANCELLED" -> cancelled(row);
      default -> broken(Kind.WRONG_FIELDS, "unknown state");
    }
    Instant createdAt = creation == null ? null : creation.createdAt();
    Instant deadline = creation == null ? null : creation.deadline();
    same("createdAt of the row", row.createdAt(), createdAt);
    same("deadline of the row", row.deadline(), deadline);
  }

  private boolean isSettled() {
    return !order.payments().isEmpty() || !order.closures().isEmpty();
  }

  private void pending() {
    if (isSettled()) {
      broken(Kind.LOST, "pending although it was paid or closed");
    } else if (creation != null && !creation.deadline().isAfter(now) && order.doubts().isEmpty()) {
      broken(Kind.LOST, "pending at " + now + " although its deadline has passed");
    }
  }

  /** Checks that exactly the orders in doubt are parked. */
  private void doubts() {
    if (order.parked() && order.doubts().isEmpty()) {
      broken(Kind.UNEXPLAINED_STATE, "parked without an undecodable payment or closure");
    }
    if (!order.parked() && !order.doubts().isEmpty()) {
      broken(Kind.LOST, "not parked although it may have been paid or closed");
    }
  }

  private void paid(OrderRow paid) {
    if (order.payments().isEmpty()) {
      broken(Kind.UNEXPLAINED_STATE, "paid without a committed payment");
    } else {
      same("paymentId of the row", paid.paymentId(), order.payments().get(0).paymentId());
    }
  }

  private void cancelled(OrderRow cancelled) {
    if (creation == null) {
      broken(Kind.UNEXPLAINED_STATE, "cancelled without a creation");
    } else if (cancelled.decidedAt() == null) {
      broken(Kind.WRONG_FIELDS, "cancelled without decided_at");
    } else if (cancelled.decidedAt().isBefore(creation.deadline())) {
      broken(Kind.EARLY, "decided at " + cancelled.decidedAt());
    }
    if (order.cancellations().isEmpty()) {
      broken(Kind.LOST, "cancelled, but the cancellation was never published");
    }
  }

  /** Checks that there is one decision and that no payment or closure was in time. */
  private void decision() {
    if (order.cancellations().isEmpty() && !isInState("CANCELLED")) {
      return;
    }
    if (stale) {
      broken(Kind.UNEXPLAINED_STATE, "cancelled although it was stale when it was first read");
    }
    if (!isInState("CANCELLED")) {
      broken(Kind.DECIDED_TWICE, "published as cancelled, but not CANCELLED in the table");
    }
    distinct(
        Kind.DECIDED_TWICE, "event id", order.cancellations().stream().map(Cancellation::eventId));
    distinct(
        Kind.DECIDED_TWICE,
        "time of cancellation",
        order.cancellations().stream().map(c -> String.valueOf(c.cancelledAt())));
    if (creation == null) {
      return;
    }
    for (Payment payment : order.payments()) {
      if (inTime(payment, creation.deadline())) {
        broken(Kind.PAID_YET_CANCELLED, "paid in time by " + payment.position());
      }
    }
    for (Closing closing : order.closures()) {
      if (inTime(closing, creation.deadline())) {
        broken(Kind.CLOSED_YET_CANCELLED, "closed in time by " + closing.position());
      }
    }
    for (Doubt doubt : order.doubts()) {
      if (inTime(doubt, creation.deadline())) {
        broken(Kind.IN_DOUBT_YET_CANCELLED, "in doubt in time because of " + doubt.position());
      }
    }
  }

  private void cancellations() {
    for (Cancellation cancelled : order.cancellations()) {
      form(cancelled.position(), cancelled.fault());
      same("reason", cancelled.reason(), "PAYMENT_TIMEOUT");
      if (creation == null) {
        continue;
      }
      same("createdAt", cancelled.createdAt(), creation.createdAt());
      same("deadline", cancelled.deadline(), creation.deadline());
      Instant cancelledAt = cancelled.cancelledAt();
      if (cancelledAt == null) {
        broken(Kind.WRONG_FIELDS, "cancelledAt is missing");
      } else if (cancelledAt.isBefore(creation.deadline())) {
        broken(Kind.EARLY, "cancelled at " + cancelledAt);
      }
      if (cancelled.appendedAt().plus(ClockOffset.ALLOWED_SKEW).isBefore(creation.deadline())) {
        broken(Kind.EARLY, "published at " + cancelled.appendedAt());
      }
      if (row != null && isInState("CANCELLED")) {
        same("cancelledAt", cancelledAt, row.decidedAt());
      }
    }
  }

  /**
   * Checks that payments raised a conflict if and only if the order is cancelled or closed. An
   * order that was closed as stale raises none, because its closing is not published; whether a
   * stale one was closed by its closing event before, the records do not tell.
   */
  private void conflicts() {
    Map<String, List<Conflict>> byPayment =
        order.conflicts().stream().collect(Collectors.groupingBy(Conflict::paymentId));
    Set<String> payments =
        order.payments().stream().map(Payment::paymentId).collect(Collectors.toSet());
    boolean expected = isInState("CANCELLED") || isInState("CLOSED");
    if (expected && !stale) {
      for (String paymentId : payments) {
        if (!byPayment.containsKey(paymentId)) {
          broken(Kind.CONFLICT_MISSING, "no conflict was published for payment " + paymentId);
        }
      }
    }
    byPayment.forEach(
        (paymentId, conflicts) -> {
          boolean closedAsStale = stale && order.closures().isEmpty();
          if (!expected || closedAsStale || !payments.contains(paymentId)) {
            broken(Kind.UNEXPECTED_CONFLICT, "conflict of payment " + paymentId);
          }
          distinct(
              Kind.CONFLICT_TWICE,
              "event id of payment " + paymentId,
              conflicts.stream().map(Conflict::eventId));
          conflicts.forEach(this::conflict);
        });
  }

  /** Checks that no payment was under way that was so in time. */
  private void holds() {
    if (creation == null) {
      return;
    }
    for (Cancellation cancelled : order.cancellations()) {
      Instant at = cancelled.cancelledAt();
      if (at != null) {
        order.attempts().stream()
            .filter(attempt -> certainlyHolds(attempt, creation.deadline(), at))
            .forEach(
                attempt ->
                    broken(
                        Kind.HELD_YET_CANCELLED,
                        "cancelled at %s while %s was under way"
                            .formatted(at, attempt.position())));
      }
    }
  }

  /**
   * Whether an attempt was certainly visible before the deadline, and certainly neither over nor
   * ended nor renewed when the order was cancelled.
   */
  private boolean certainlyHolds(Attempt attempt, Instant deadline, Instant cancelledAt) {
    Instant latest = cancelledAt.plus(ClockOffset.ALLOWED_SKEW);
    return attempt.until() != null
        && attempt.visibleBy().plus(ClockOffset.ALLOWED_SKEW).isBefore(deadline)
        && attempt.until().isAfter(latest)
        && order.attempts().stream()
            .filter(later -> later.position().offset() > attempt.position().offset())
            .filter(
                later ->
                    later.attemptId().equals(attempt.attemptId())
                        || (later.until() == null && later.attemptId().isEmpty()))
            .noneMatch(later -> !later.appendedAt().isAfter(latest));
  }

  /** Checks that every change counted that was in time. */
  private void changes() {
    if (creation == null) {
      return;
    }
    for (Change change : order.changesAfter(creation.deadline())) {
      boolean isInTime = certainlyBefore(change, creation.deadline());
      if (isInState("PENDING") || (isInState("CANCELLED") && isInTime)) {
        broken(
            Kind.CHANGE_OVERLOOKED,
            "the deadline is %s although %s changed it"
                .formatted(creation.deadline(), change.position()));
      }
    }
  }

  private static boolean certainlyBefore(Change change, Instant time) {
    return change.visibleBy().plus(ClockOffset.ALLOWED_SKEW).isBefore(time);
  }

  private void warnings() {
    order.warnings().stream()
        .collect(Collectors.groupingBy(Warning::number))
        .forEach(
            (number, published) ->
                distinct(
                    Kind.WARNED_TWICE,
                    "event id of warning " + number,
                    published.stream().map(Warning::eventId)));
    for (Warning warning : order.warnings()) {
      form(warning.position(), warning.fault());
      if (creation == null) {
        broken(Kind.UNEXPLAINED_STATE, "warned without a creation");
        return;
      }
      if (!order.deadlines().contains(warning.deadline())) {
        same("deadline of the warning", warning.deadline(), creation.deadline());
      }
      order.changesAfter(warning.deadline()).stream()
          .filter(change -> certainlyBefore(change, warning.time()))
          .forEach(
              change ->
                  broken(
                      Kind.CHANGE_OVERLOOKED,
                      "warned of %s although %s changed it"
                          .formatted(warning.deadline(), change.position())));
      Instant time = order.earliest(warning);
      if (warning.decidedAt().isBefore(time)) {
        broken(Kind.WARNED_EARLY, "warned at " + warning.decidedAt());
      }
      if (!warning.decidedAt().isBefore(warning.deadline())) {
        broken(Kind.WARNED_LATE, "warned at " + warning.decidedAt());
      }
      order
          .settlings()
          .filter(settling -> inTime(settling, time))
          .forEach(
              settling ->
                  broken(
                      Kind.WARNED_AFTER_PAYMENT,
                      "warned at %s although %s was before it"
                          .formatted(time, settling.position())));
    }
  }

  private void conflict(Conflict conflict) {
    form(conflict.position(), conflict.fault());
    Set<Instant> paidAt =
        order.payments().stream()
            .filter(payment -> payment.paymentId().equals(conflict.paymentId()))
            .map(Payment::paidAt)
            .collect(Collectors.toSet());
    if (!paidAt.isEmpty() && !paidAt.contains(conflict.paidAt())) {
      broken(Kind.WRONG_FIELDS, "paidAt is " + conflict.paidAt() + ", not one of " + paidAt);
    }
    if (creation != null && isInState("CANCELLED")) {
      same("deadline of the conflict", conflict.deadline(), creation.deadline());
      same(
          "cancelledAt of the conflict",
          conflict.cancelledAt(),
          row == null ? null : row.decidedAt());
    } else {
      // The closure and the payment may both have arrived before the creation.
      if (conflict.deadline() != null) {
        same(
            "deadline of the conflict",
            conflict.deadline(),
            creation == null ? null : creation.deadline());
      }
      same("cancelledAt of the conflict", conflict.cancelledAt(), null);
    }
    boolean paidInTime =
        conflict.paidAt() != null
            && conflict.deadline() != null
            && !conflict.paidAt().isAfter(conflict.deadline());
    same("kind", conflict.kind(), paidInTime ? "PAID_IN_TIME_DELIVERED_LATE" : "PAID_LATE");
  }

  private boolean isInState(String state) {
    return row != null && row.state().equals(state);
  }

  private void form(RecordPosition position, @Nullable String fault) {
    if (fault != null) {
      broken(Kind.WRONG_FIELDS, position + ": " + fault);
    }
  }

  private void same(String what, @Nullable Object actual, @Nullable Object expected) {
    if (!Objects.equals(actual, expected)) {
      broken(Kind.WRONG_FIELDS, what + " is " + actual + ", not " + expected);
    }
  }

  private void distinct(Kind kind, String what, Stream<String> values) {
    Set<String> found = values.collect(Collectors.toSet());
    if (found.size() > 1) {
      broken(kind, "more than one " + what + ": " + found);
    }
  }

  private void broken(Kind kind, String explanation) {
    violations.add(new Violation(kind, explanation, order.toString()));
  }
}
