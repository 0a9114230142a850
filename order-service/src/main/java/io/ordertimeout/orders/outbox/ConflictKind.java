package io.ordertimeout.orders.outbox;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The kinds of conflicts, as the published events name them. */
public enum ConflictKind {
  /** The payment was made before the deadline, but reached the service after the decision. */
  PAID_IN_TIME_DELIVERED_LATE,
  /** The payment was made after the deadline. */
  PAID_LATE;

  /** Returns the kind of a conflict; it is late if one of the times is not known. */
  public static ConflictKind of(@Nullable Instant paidAt, @Nullable Instant deadline) {
    return paidAt != null && deadline != null && !paidAt.isAfter(deadline)
        ? PAID_IN_TIME_DELIVERED_LATE
        : PAID_LATE;
  }
}
