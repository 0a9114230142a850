package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.Entry.Cancellation;
import io.ordertimeout.it.oracle.Entry.Closing;
import io.ordertimeout.it.oracle.Entry.Conflict;
import io.ordertimeout.it.oracle.Entry.Creation;
import io.ordertimeout.it.oracle.Entry.Payment;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of one order. Records of one kind are in the order of their offsets, since they
 * share a partition.
 *
 * @param row null if the table does not know the order
 */
record OrderHistory(
    String orderId,
    List<Creation> creations,
    List<Payment> payments,
    List<Closing> closings,
    List<Cancellation> cancellations,
    List<Conflict> conflicts,
    @Nullable TableRow row) {

  /** The creation that counts; later ones are repetitions. */
  @Nullable Creation creation() {
    return creations.isEmpty() ? null : creations.get(0);
  }

  Stream<Entry.Settling> settlings() {
    return Stream.concat(payments.stream(), closings.stream());
  }

  private Stream<Entry> entries() {
    return Stream.of(creations, payments, closings, cancellations, conflicts).flatMap(List::stream);
  }

  /** The whole history, a line an event, oldest first. */
  @Override
  public String toString() {
    return entries()
            .sorted(Comparator.comparing(Entry::appendedAt))
            .map(entry -> "    " + entry)
            .collect(Collectors.joining("\n", "  " + orderId + "\n", "\n"))
        + "    "
        + (row == null ? "no row" : row);
  }
}
