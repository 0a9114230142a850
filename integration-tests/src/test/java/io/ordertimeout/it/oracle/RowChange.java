package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.Violation.Kind;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A change of an order's row that is not its decision.
 *
 * @param at when it happened, as Postgres writes it
 * @param before the row as a JSON object, a field for each column
 * @param after the same; null if the row was deleted
 */
record RowChange(String orderId, String at, JsonNode before, @Nullable JsonNode after) {

  /** What the creation of an order adds to a row that its payment or closure has begun. */
  private static final Set<String> CREATION =
      Set.of(
          "created_at",
          "shard",
          "settled_in",
          "deadline",
          "grace_seconds",
          "leads",
          "warned",
          "confirm_seconds",
          "cancel_unconfirmed",
          "policy",
          "channel",
          "payment_method",
          "amount",
          "currency",
          "traceparent");

  /** What the restoration of a published decision replaces. */
  private static final Set<String> DECISION =
      Set.of(
          "state",
          "deadline",
          "decided_at",
          "decided_by",
          "payment_id",
          "paid_at",
          "closed_at",
          "close_reason");

  /** The decisions that were published before: by order id and time. */
  record PublishedDecisions(
      BiPredicate<String, Instant> cancelled, BiPredicate<String, Instant> closed) {

    static final PublishedDecisions NONE =
        new PublishedDecisions((orderId, time) -> false, (orderId, time) -> false);
  }

  /**
   * Returns the promise that the change breaks, if any.
   *
   * @param restorable the decisions that a failover may have lost, so that the change restores them
   */
  Optional<Violation> violation(PublishedDecisions restorable) {
    if (after == null) {
      return Optional.of(violation(Kind.ROW_CHANGED, "was deleted"));
    }
    Set<String> changed = changedColumns(after);
    // A creation that is read again, after a restored cancellation, states the same deadline.
    boolean deadlineMoved = changed.contains("deadline") && !before.path("deadline").isNull();
    if (changed.isEmpty()
        || (!deadlineMoved && isCompletion(changed, after))
        // With the decision, a failover may have lost a change of the deadline before it.
        || isRestoration(changed, after, restorable)) {
      return Optional.empty();
    }
    String columns =
        changed.stream()
            .map(name -> name + " " + before.path(name) + " -> " + after.path(name))
            .collect(Collectors.joining(", "));
    return Optional.of(
        violation(changed.contains("state") ? Kind.DECIDED_TWICE : Kind.ROW_CHANGED, columns));
  }

  private Set<String> changedColumns(JsonNode now) {
    Set<String> names = new TreeSet<>(before.propertyNames());
    names.removeIf(name -> before.path(name).equals(now.path(name)));
    return names;
  }

  private boolean isCompletion(Set<String> changed, JsonNode now) {
    return before.path("created_at").isNull()
        && !now.path("created_at").isNull()
        && CREATION.containsAll(changed);
  }

  private boolean isRestoration(Set<String> changed, JsonNode now, PublishedDecisions restorable) {
    if (!DECISION.containsAll(changed) || now.path("decided_at").isNull()) {
      return false;
    }
    Instant decidedAt = OffsetDateTime.parse(now.path("decided_at").asString()).toInstant();
    return switch (now.path("state").asString()) {
      case "CANCELLED" -> restorable.cancelled.test(orderId, decidedAt);
      case "CLOSED" -> restorable.closed.test(orderId, decidedAt);
      default -> false;
    };
  }

  private Violation violation(Kind kind, String what) {
    return new Violation(
        kind,
        orderId + " changed at " + at + ": " + what,
        "    " + before + "\n    " + Objects.toString(after, "deleted"));
  }
}
