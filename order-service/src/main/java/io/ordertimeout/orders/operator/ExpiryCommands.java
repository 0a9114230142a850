package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.operator.AuditedChange.Effect;
import io.ordertimeout.orders.operator.status.Hold;
import io.ordertimeout.orders.operator.status.Pause;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.suspension.NewPause;
import io.ordertimeout.orders.suspension.Suspension;
import io.ordertimeout.orders.suspension.Suspension.PlacedBy;
import io.ordertimeout.orders.suspension.Suspensions;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The operator commands on the expiry of many orders. A change that has returned is in force on all
 * instances, and restarts do not undo it. Thread-safe.
 */
@Component
public class ExpiryCommands {

  /** How far ahead the end of a pause may be. */
  private static final Duration LONGEST_PAUSE = Duration.ofDays(365);

  private final Suspensions suspensions;
  private final AuditedChange change;
  private final DatabaseClock clock;

  ExpiryCommands(Suspensions suspensions, AuditedChange change, DatabaseClock clock) {
    this.suspensions = suspensions;
    this.change = change;
    this.clock = clock;
  }

  /**
   * Pauses expiry. Without an idempotency key, an equal pause of the same requester that is in
   * force counts as this one.
   *
   * @param channel the channel whose orders to hold; null for all orders
   * @param moveDeadlines whether deadlines move by the part of the pause that their orders live
   *     through
   * @param end when it ends by itself, at most 365 days from now; null for never
   * @throws ImpossibleChangeException if it would end before it begins
   * @throws InvalidRequestException if it would end too late
   */
  public ChangeResult pause(
      Requester requester,
      @Nullable String channel,
      boolean moveDeadlines,
      @Nullable Instant end,
      String reason) {
    Instant endsAt = end == null ? null : end.truncatedTo(ChronoUnit.MICROS);
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("channel", channel == null ? "" : channel);
    details.put("moveDeadlines", moveDeadlines);
    details.put("endsAt", endsAt == null ? "" : endsAt.toString());
    return change.make(
        requester.request(Kind.PAUSE_EXPIRY, reason, details),
        () -> {
          if (endsAt != null) {
            requirePossibleEnd(endsAt, clock.readExact());
          }
          NewPause wanted =
              new NewPause(
                  channel, PlacedBy.OPERATOR, requester.name(), reason, moveDeadlines, endsAt);
          Optional<Suspension> same =
              suspensions.inForce().stream().filter(s -> isSame(s, wanted)).findFirst();
          if (same.isPresent()) {
            return Effect.unchanged(Long.toString(same.get().id()));
          }
          Pause placed = Pause.of(suspensions.place(wanted).orElseThrow());
          return Effect.changed(Long.toString(placed.id()), null, placed);
        });
  }

  private static void requirePossibleEnd(Instant endsAt, Instant now) {
    if (!endsAt.isAfter(now)) {
      throw new ImpossibleChangeException("the pause would end in the past, at " + endsAt);
    }
    Instant latest = now.plus(LONGEST_PAUSE);
    if (endsAt.isAfter(latest)) {
      throw new InvalidRequestException(
          "endsAt",
          "%s is later than %s, %d days from now; leave it out for a pause that an operator ends"
              .formatted(endsAt, latest, LONGEST_PAUSE.toDays()));
    }
  }

  private static boolean isSame(Suspension pause, NewPause wanted) {
    return pause.isPause()
        && pause.placedBy().equals(wanted.placedBy())
        && pause.placedByKind() == wanted.placedByKind()
        && Objects.equals(pause.channel(), wanted.channel())
        && pause.movesDeadlines() == wanted.movesDeadlines()
        && Objects.equals(pause.endsAt(), wanted.endsAt());
  }

  /**
   * Ends a pause that anybody has placed.
   *
   * @throws UnknownSubjectException if there is no such pause
   * @throws ImpossibleChangeException if it has ended by itself
   */
  public ChangeResult resume(Requester requester, long id, String reason) {
    String subject = Long.toString(id);
    return change.make(
        requester.request(Kind.RESUME_EXPIRY, reason, Map.of("pause", id)),
        () -> {
          Suspension pause =
              suspensions
                  .find(id)
                  .filter(Suspension::isPause)
                  .orElseThrow(() -> new UnknownSubjectException("there is no pause " + id));
          if (pause.endedAt() != null) {
            return Effect.unchanged(subject);
          }
          if (!suspensions.end(id, requester.name())) {
            throw new ImpossibleChangeException(
                "pause %d has already ended by itself, at %s".formatted(id, pause.endsAt()));
          }
          return Effect.changed(
              subject, Pause.of(pause), Pause.of(suspensions.find(id).orElseThrow()));
        });
  }

  /**
   * Lifts the hold of a shard.
   *
   * @throws UnknownSubjectException if there is no such hold
   */
  public ChangeResult lift(Requester requester, long id, String reason) {
    String subject = Long.toString(id);
    return change.make(
        requester.request(Kind.LIFT_HOLD, reason, Map.of("hold", id)),
        () -> {
          Suspension hold =
              suspensions
                  .find(id)
                  .filter(s -> !s.isPause())
                  .orElseThrow(() -> new UnknownSubjectException("there is no hold " + id));
          if (!suspensions.end(id, requester.name())) {
            return Effect.unchanged(subject);
          }
          return Effect.changed(
              subject, Hold.of(hold), Hold.of(suspensions.find(id).orElseThrow()));
        });
  }
}
