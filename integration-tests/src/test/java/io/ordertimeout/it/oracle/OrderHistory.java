package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.HistoryEvent.Attempt;
import io.ordertimeout.it.oracle.HistoryEvent.Cancellation;
import io.ordertimeout.it.oracle.HistoryEvent.Closing;
import io.ordertimeout.it.oracle.HistoryEvent.Conflict;
import io.ordertimeout.it.oracle.HistoryEvent.Creation;
import io.ordertimeout.it.oracle.HistoryEvent.Doubt;
import io.ordertimeout.it.oracle.HistoryEvent.Payment;
import io.ordertimeout.it.oracle.HistoryEvent.Warning;
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
    List<Warning> warnings,
    @Nullable OrderRow row,
    boolean parked) {

  /** The history of an order without payment attempts and warnings. */
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
        row,
        parked);
  }

  /** The first creation, which counts; later ones are repetitions. */
  @Nullable Creation creation() {
    return creations.isEmpty() ? null : creations.get(0);
  }

  Stream<HistoryEvent.Settling> settlings() {
    return Stream.of(payments, closures, doubts).flatMap(List::stream);
  }

  private Stream<HistoryEvent> events() {
    return Stream.of(
            creations, payments, closures, doubts, attempts, warnings, cancellations, conflicts)
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
