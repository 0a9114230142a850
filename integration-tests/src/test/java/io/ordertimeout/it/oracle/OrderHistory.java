package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.HistoryEvent.Attempt;
import io.ordertimeout.it.oracle.HistoryEvent.Cancellation;
import io.ordertimeout.it.oracle.HistoryEvent.Change;
import io.ordertimeout.it.oracle.HistoryEvent.Closing;
import io.ordertimeout.it.oracle.HistoryEvent.Conflict;
import io.ordertimeout.it.oracle.HistoryEvent.Creation;
import io.ordertimeout.it.oracle.HistoryEvent.Doubt;
import io.ordertimeout.it.oracle.HistoryEvent.Payment;
import io.ordertimeout.it.oracle.HistoryEvent.Warning;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The complete history of one order. Records of one kind are in the order of their offsets, since
 * they share a partition.
 *
 * @param row the order's row, or null if the table does not contain the order
 * @param parked whether the service has parked the order, so that it is not cancelled
 */
record OrderHistory(
    String orderId,
    List<Creation> creations,
    List<Payment> payments,
    List<Closing> closures,
    List<Doubt> doubts,
    List<Cancellation> cancellations,
    List<Conflict> conflicts,
    List<Attempt> attempts,
    List<Change> changes,
    List<Warning> warnings,
    @Nullable OrderRow row,
    boolean parked) {

  /** The history of an order without payment attempts, changes and warnings. */
  OrderHistory(
      String orderId,
      List<Creation> creations,
      List<Payment> payments,
      List<Closing> closures,
      List<Doubt> doubts,
      List<Cancellation> cancellations,
      List<Conflict> conflicts,
      @Nullable OrderRow row,
      boolean parked) {
    this(
        orderId,
        creations,
        payments,
        closures,
        doubts,
        cancellations,
        conflicts,
        List.of(),
        List.of(),
        List.of(),
        row,
        parked);
  }

  /**
   * The first creation, which counts; later ones are repetitions. Its deadline is the one that the
   * table contains, if the creation or a change states it; else the last one.
   */
  @Nullable Creation creation() {
    if (creations.isEmpty()) {
      return null;
    }
    Creation first = creations.get(0);
    List<Instant> deadlines = deadlines();
    Instant inTable = row == null ? null : row.deadline();
    return new Creation(
        first.position(),
        first.appendedAt(),
        first.createdAt(),
        inTable != null && deadlines.contains(inTable)
            ? inTable
            : deadlines.get(deadlines.size() - 1));
  }

  /** The deadlines that the creation and the changes state, in their order. */
  List<Instant> deadlines() {
    return Stream.concat(
            creations.stream().limit(1).map(Creation::deadline),
            changes.stream().map(Change::deadline))
        .toList();
  }

  /**
   * The time before which the warning must not be decided. What is published late, after a crash,
   * states the deadline of then, which a change may have postponed since the decision.
   */
  Instant earliest(Warning warning) {
    return deadlines().stream()
        .map(deadline -> deadline.minus(warning.leadTime()))
        .min(Comparator.naturalOrder())
        .orElseThrow();
  }

  /** The changes behind the last one that states the deadline. */
  List<Change> changesAfter(Instant deadline) {
    int last = deadlines().lastIndexOf(deadline);
    return last < 0 ? List.of() : changes.subList(last, changes.size());
  }

  Stream<HistoryEvent.Settling> settlings() {
    return Stream.of(payments, closures, doubts).flatMap(List::stream);
  }

  private Stream<HistoryEvent> events() {
    return Stream.of(
            creations,
            payments,
            closures,
            doubts,
            attempts,
            changes,
            warnings,
            cancellations,
            conflicts)
        .flatMap(List::stream);
  }

  /** The history with one line per event, oldest first. */
  @Override
  public String toString() {
    return events()
            .sorted(Comparator.comparing(HistoryEvent::appendedAt))
            .map(event -> "    " + event)
            .collect(Collectors.joining("\n", "  " + orderId + "\n", "\n"))
        + "    "
        + (row == null ? "no row in order_deadline" : row)
        + (parked ? ", parked" : "");
  }
}
