package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.suspension.Suspension;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A hold.
 *
 * @param id its number
 * @param shard the shard that it holds
 * @param reason the kind of event that caused it
 * @param detail what exactly happened, and where
 * @param placedAt since when it has been in force
 * @param liftedAt when it was lifted; null while it is in force
 */
public record Hold(
    long id,
    int shard,
    String reason,
    String detail,
    Instant placedAt,
    @Nullable Instant liftedAt) {

  /** The only kind of event that causes a hold. */
  private static final String LOST_RECORDS = "LOST_RECORDS";

  /** Creates it as the API states it. */
  public static Hold of(Suspension suspension) {
    return new Hold(
        suspension.id(),
        Objects.requireNonNull(suspension.shard()),
        LOST_RECORDS,
        suspension.reason(),
        suspension.beganAt(),
        suspension.endedAt());
  }
}
