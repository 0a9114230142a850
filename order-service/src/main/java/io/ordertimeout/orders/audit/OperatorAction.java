package io.ordertimeout.orders.audit;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An entry of the audit log.
 *
 * @param id its number, ascending in time except for simultaneous actions
 * @param at when the action was taken
 * @param actor who took it
 * @param kind what was done
 * @param subject what it was done to: the id of an order, pause, hold, dead letter, topic or
 *     consumer group
 * @param reason why, in the actor's words
 * @param before the state before the action, as far as it was changed
 * @param after the same state after the action
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

  /** The kinds of actions. */
  public enum Kind {
    /** The deadline of an order was moved. */
    EXTEND_ORDER(true),
    /** An order was closed. */
    CLOSE_ORDER(true),
    /** An order was made due immediately. */
    CANCEL_ORDER(true),
    /** A parked order may be decided again. */
    RELEASE_ORDER(true),
    /** It was recorded how a conflict has ended. */
    RESOLVE_CONFLICT(false),
    /** Expiry was paused. */
    PAUSE_EXPIRY(false),
    /** A pause was ended. */
    RESUME_EXPIRY(false),
    /** The hold of a shard was lifted. */
    LIFT_HOLD(false),
    /** A dead letter was published again. */
    REPLAY_DEAD_LETTER(false),
    /**
     * Unusable records of a topic may become dead letters although most of its records are
     * unusable.
     */
    PERMIT_DEAD_LETTERS(false),
    /** The instances moved to the next generation of the consumer group. */
    ADVANCE_GROUP(false);

    private final boolean rearmsOrder;

    Kind(boolean rearmsOrder) {
      this.rearmsOrder = rearmsOrder;
    }

    /**
     * Whether the subject is an order whose timer has to follow the change. The owner of its shard,
     * which may be another instance, learns of the change by reading the audit log.
     */
    public boolean rearmsOrder() {
      return rearmsOrder;
    }
  }
}
