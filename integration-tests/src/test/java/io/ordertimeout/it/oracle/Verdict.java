package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.HistoryEvent.Cancellation;
import io.ordertimeout.it.oracle.HistoryEvent.Conflict;
import io.ordertimeout.it.oracle.HistoryEvent.Creation;
import io.ordertimeout.it.oracle.Violation.Kind;
import java.time.Duration;
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
 * <p>Repeated and late publications are counted, but they are no violations.
 */
public final class Verdict {

  private static final Duration LATE = Duration.ofSeconds(1);
  private static final int UNDECIDABLE_SHOWN = 3;
  private static final int VIOLATIONS_SHOWN = 200;

  private final Map<String, Integer> states = new TreeMap<>();
  private final List<Violation> violations = new ArrayList<>();
  private final Map<String, String> eventOwners = new HashMap<>();
  private final List<Long> latenesses = new ArrayList<>();
  private int orders;
  private int paidInTime;
  private int cancelled;
  private int conflicts;
  private int repeated;
  private final List<String> undecidable = new ArrayList<>();
  private long late;
  private String notes = "";

  private Verdict() {}

  /**
   * Judges all orders.
   *
   * @param now Postgres's clock when the table was read
   */
  static Verdict of(List<OrderHistory> histories, Instant now) {
    Verdict verdict = new Verdict();
    histories.forEach(history -> verdict.add(history, now));
    return verdict;
  }

  private void add(OrderHistory order, Instant now) {
    orders++;
    states.merge(order.row() == null ? "none" : order.row().state(), 1, Integer::sum);
    violations.addAll(Judge.judge(order, now));
    if (Judge.undecidable(order)) {
      undecidable.add(order.toString());
    }
    cancelled += order.cancellations().isEmpty() ? 0 : 1;
    Creation creation = order.creation();
    if (creation != null) {
      paidInTime +=
          order.payments().stream().anyMatch(p -> Judge.inTime(p, creation.deadline())) ? 1 : 0;
      order.cancellations().stream().findFirst().ifPresent(first -> lateness(creation, first));
    }
    long conflicting = order.conflicts().stream().map(Conflict::paymentId).distinct().count();
    conflicts += (int) conflicting;
    repeated += Math.max(0, order.cancellations().size() - 1);
    repeated += order.conflicts().size() - (int) conflicting;
    order.cancellations().forEach(c -> own(c.eventId(), order.orderId(), order));
    order.conflicts().forEach(c -> own(c.eventId(), order.orderId() + "/" + c.paymentId(), order));
  }

  /** Measures lateness from the deadline, or from the creation if that was appended later. */
  private void lateness(Creation creation, Cancellation first) {
    Instant due =
        creation.deadline().isAfter(creation.appendedAt())
            ? creation.deadline()
            : creation.appendedAt();
    long millis = Duration.between(due, first.appendedAt()).toMillis();
    latenesses.add(millis);
    late += millis > LATE.toMillis() ? 1 : 0;
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
    long[] sorted = latenesses.stream().mapToLong(Long::longValue).sorted().toArray();
    Map<Kind, Integer> kinds = violationCounts();
    return "%d orders %s, %d paid in time, %d cancelled, %d conflicts"
            .formatted(orders, states, paidInTime, cancelled, conflicts)
        + "\n  lateness p50 %d ms, p99 %d ms, max %d ms; %d later than %d s"
            .formatted(
                percentile(sorted, 0.5),
                percentile(sorted, 0.99),
                percentile(sorted, 1),
                late,
                LATE.toSeconds())
        + "\n  %d repeated publications; %d cancelled while a payment or closing was in flight"
            .formatted(repeated, undecidable.size())
        + notes
        + "\n  violations: "
        + (kinds.isEmpty() ? "none" : kinds)
        + brokenPromises().stream().map(violation -> "\n" + violation).collect(Collectors.joining())
        + undecidable.stream()
            .limit(UNDECIDABLE_SHOWN)
            .map(history -> "\nin flight at the deadline:\n" + history)
            .collect(Collectors.joining());
  }

  /** Returns the percentile by the nearest-rank method. */
  private static long percentile(long[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[(int) Math.ceil(share * sorted.length) - 1];
  }
}
