package io.ordertimeout.orders.audit;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Who changed what, when and why.
 *
 * @param id its number, ascending in time but for what happened at once
 * @param at when
 * @param actor who
 * @param kind what was done
 * @param subject what it was done to: an order's id, the number of a pause or hold, a dead letter
 * @param reason why, in the actor's words
 * @param before what was changed, as it was
 * @param after the same, as it is since
 */
public record OperatorAction(
    long id,
    Instant at,
    String actor,
    Kind kind,
    String subject,
    String reason,
    @Nullable JsonNode before,
    @Nullable JsonNode after) {

  /** What can be done. */
  public enum Kind {
    /** The deadline of an order was moved. */
    EXTEND_ORDER,
    /** An order was closed. */
    CLOSE_ORDER,
    /** An order was made due at once. */
    CANCEL_ORDER,
    /** A parked order may be decided again. */
    RELEASE_ORDER,
    /** Expiry was paused. */
    PAUSE_EXPIRY,
    /** A pause was ended. */
    RESUME_EXPIRY,
    /** The hold of a shard was lifted. */
    LIFT_HOLD,
    /** A dead letter was published again. */
    REPLAY_DEAD_LETTER
  }
}
