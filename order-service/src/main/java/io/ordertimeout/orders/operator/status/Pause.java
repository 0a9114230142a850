package io.ordertimeout.orders.operator.status;

import io.ordertimeout.orders.suspension.Suspension;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A pause.
 *
 * @param id its number
 * @param channel the channel whose orders it holds; null for all orders
 * @param placedByKind whether an operator or the circuit breaker placed it
 * @param placedBy the name of who placed it
 * @param reason why
 * @param moveDeadlines whether deadlines move by the part of it during which the orders were open
 * @param beganAt since when it has been in force
 * @param endsAt when it ends by itself; null for never
 * @param endedAt when it was ended; null if it was not
 * @param endedBy the name of who ended it
 */
public record Pause(
    long id,
    @Nullable String channel,
    PlacedBy placedByKind,
    String placedBy,
    String reason,
    boolean moveDeadlines,
    Instant beganAt,
    @Nullable Instant endsAt,
    @Nullable Instant endedAt,
    @Nullable String endedBy) {

  /** Who placed a pause. */
  public enum PlacedBy {
    /** An operator. */
    OPERATOR,
    /** The circuit breaker, because an abnormal number of orders was about to be cancelled. */
    BREAKER
  }

  /** Creates it as the API states it. */
  public static Pause of(Suspension suspension) {
    return new Pause(
        suspension.id(),
        suspension.channel(),
        PlacedBy.valueOf(suspension.placedByKind().name()),
        suspension.placedBy(),
        suspension.reason(),
        suspension.movesDeadlines(),
        suspension.beganAt(),
        suspension.endsAt(),
        suspension.endedAt(),
        suspension.endedBy());
  }
}
