package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.HistoryEvent.Conflict;
import io.ordertimeout.it.oracle.Violation.Kind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The result of a run: counts of outcomes, and every broken promise.
 *
 * <p>Repeated publications are counted, but they are no violations.
 */
public final class Verdict {

  private static final int UNDECIDABLE_SHOWN = 3;
  private static final int VIOLATIONS_SHOWN = 200;

  private final Map<String, Integer> states = new TreeMap<>();
  private final List<Violation> violations = new ArrayList<>();
  private final Map<String, String> eventOwners = new HashMap<>();
  private final Map<Judge.Payments, Integer> payments = new EnumMap<>(Judge.Payments.class);
  private final Punctuality punctuality;
  private int orders;
  private int inDoubt;
  private int cancelled;
  private int conflicts;
  private int repeated;
  private final List<String> undecidable = new ArrayList<>();
  private String notes = "";

  private Verdict(Punctuality punctuality) {
    this.punctuality = punctuality;
  }

  /**
   * Judges all orders.
   *
   * @param now Postgres's clock when the table was read
   * @param staleBefore the deadline before which orders were stale when they were first read
   * @param punctuality how late cancellations may be, and when they may be later
   */
  static Verdict of(
      List<OrderHistory> histories, Instant now, Instant staleBefore, Punctuality punctuality) {
    Verdict verdict = new Verdict(punctuality);
    histories.forEach(history -> verdict.add(history, now, staleBefore));
    return verdict;
  }

  private void add(OrderHistory order, Instant now, Instant staleBefore) {
    orders++;
    states.merge(order.row() == null ? "none" : order.row().state(), 1, Integer::sum);
    violations.addAll(Judge.judge(order, now, staleBefore));
    if (Judge.undecidable(order)) {
      undecidable.add(order.toString());
    }
    cancelled += order.cancellations().isEmpty() ? 0 : 1;
    inDoubt += order.doubts().isEmpty() ? 0 : 1;
    payments.merge(Judge.payments(order), 1, Integer::sum);
    punctuality.add(order).ifPresent(violations::add);
    long conflicting = order.conflicts().stream().map(Conflict::paymentId).distinct().count();
    conflicts += (int) conflicting;
    repeated += Math.max(0, order.cancellations().size() - 1);
    repeated += order.conflicts().size() - (int) conflicting;
    order.cancellations().forEach(c -> own(c.eventId(), order.orderId(), order));
    order.conflicts().forEach(c -> own(c.eventId(), order.orderId() + "/" + c.paymentId(), order));
  }

  private void own(String eventId, String owner, OrderHistory order) {
    String other = eventOwners.putIfAbsent(eventId, owner);
    if (other != null && !other.equals(owner)) {
      violations.add(
          new Violation(
              Kind.WRONG_FIELDS,
              "event id " + eventId + " is also used by " + other,
              order.toString()));
    }
  }

  /** Adds a violation for each kind of order of which there are too few or too many. */
  void require(ShareBounds bounds) {
    atLeast("paid in time", paid(Judge.Payments.IN_TIME), bounds.minPaidInTime());
    atLeast("paid too late", paid(Judge.Payments.TOO_LATE), bounds.minPaidLate());
    atLeast("in doubt", inDoubt, bounds.minInDoubt());
    if (paid(Judge.Payments.UNDECIDABLE) > bounds.maxUndecidable() * orders) {
      unrepresentative(
          "paid undecidably close to the deadline",
          paid(Judge.Payments.UNDECIDABLE),
          "at most",
          bounds.maxUndecidable());
    }
  }

  private void atLeast(String kind, int count, double share) {
    if (count < share * orders || (share > 0 && count == 0)) {
      unrepresentative(kind, count, "at least", share);
    }
  }

  private void unrepresentative(String kind, int count, String limit, double share) {
    violations.add(
        new Violation(
            Kind.UNREPRESENTATIVE,
            "%d of %d orders were %s, not %s %s of them"
                .formatted(count, orders, kind, limit, share),
            ""));
  }

  private int paid(Judge.Payments when) {
    return payments.getOrDefault(when, 0);
  }

  void add(Violation violation) {
    violations.add(violation);
  }

  /** Adds a line to the summary. */
  void note(String line) {
    notes += "\n  " + line;
  }

  List<Violation> violations() {
    return List.copyOf(violations);
  }

  /** Returns the first violations with their histories; empty if every promise was kept. */
  public List<String> brokenPromises() {
    return violations.stream().limit(VIOLATIONS_SHOWN).map(Violation::toString).toList();
  }

  /** Returns how often each promise was broken; empty if every promise was kept. */
  public Map<Kind, Integer> violationCounts() {
    Map<Kind, Integer> kinds = new EnumMap<>(Kind.class);
    violations.forEach(violation -> kinds.merge(violation.kind(), 1, Integer::sum));
    return kinds;
  }

  public int orders() {
    return orders;
  }

  /** Returns the number of orders in a state of the table. */
  public int inState(String state) {
    return states.getOrDefault(state, 0);
  }

  /** Returns the number of cancellations that were judged for their lateness. */
  public int undisturbedCancellations() {
    return punctuality.undisturbed();
  }

  public int conflicts() {
    return conflicts;
  }

  /** Returns the number of repeated publications of the same event. */
  public int repeated() {
    return repeated;
  }

  /** A summary, every violation with its history, and some undecidable orders. */
  @Override
  public String toString() {
    Map<Kind, Integer> kinds = violationCounts();
    return "%d orders %s, paid %s, %d in doubt, %d cancelled, %d conflicts"
            .formatted(orders, states, payments, inDoubt, cancelled, conflicts)
        + "\n  "
        + punctuality
        + "\n  %d repeated publications; %d cancelled although something may have been in time"
            .formatted(repeated, undecidable.size())
        + notes
        + "\n  violations: "
        + (kinds.isEmpty() ? "none" : kinds)
        + brokenPromises().stream().map(violation -> "\n" + violation).collect(Collectors.joining())
        + undecidable.stream()
            .limit(UNDECIDABLE_SHOWN)
            .map(history -> "\nclose to the deadline:\n" + history)
            .collect(Collectors.joining());
  }
}
