package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.intake.IntakeStops;
import io.ordertimeout.orders.intake.IntakeStops.Stop;
import io.ordertimeout.orders.intake.deadletter.DeadLetterReader;
import io.ordertimeout.orders.intake.deadletter.DeadLetterReader.Correction;
import io.ordertimeout.orders.intake.deadletter.DeadLetterReader.Position;
import io.ordertimeout.orders.operator.AuditedChange.Effect;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** The operator commands on dead letters. Thread-safe. */
@Component
public class DeadLetterCommands {

  /**
   * A replayed dead letter.
   *
   * @param to the position of the new record
   * @param corrected whether its key or value was corrected
   * @param orderId its order, if it is known
   */
  private record Replayed(String to, boolean corrected, @Nullable String orderId) {}

  private final DeadLetterReader reader;
  private final IntakeStops stops;
  private final AuditLog audit;
  private final AuditedChange change;
  private final BulkChange bulk;

  DeadLetterCommands(
      DeadLetterReader reader,
      IntakeStops stops,
      AuditLog audit,
      AuditedChange change,
      BulkChange bulk) {
    this.reader = reader;
    this.stops = stops;
    this.audit = audit;
    this.change = change;
    this.bulk = bulk;
  }

  /**
   * Permits for {@link IntakeStops#PERMISSION} that unusable records of a topic become dead
   * letters, although most of its records are unusable. Has no effect while an earlier permission
   * lasts.
   *
   * @throws UnknownSubjectException if the topic is read on
   */
  public ChangeResult permit(Requester requester, String topic, String reason) {
    return change.make(
        requester.request(Kind.PERMIT_DEAD_LETTERS, reason, Map.of("topic", topic)),
        () -> {
          Stop before =
              stops
                  .find(topic)
                  .orElseThrow(
                      () ->
                          new UnknownSubjectException(
                              "the topic '%s' is read; there is nothing to permit"
                                  .formatted(topic)));
          if (!stops.permitDeadLetters(topic)) {
            return Effect.unchanged(topic);
          }
          return Effect.changed(topic, before, stops.find(topic).orElseThrow());
        });
  }

  /**
   * Publishes a dead letter again to the topic that it came from. Without an idempotency key, a
   * dead letter is replayed only once. A failure halfway may publish it twice, which changes
   * nothing.
   *
   * @param correction what to publish instead of the dead letter's own
   * @throws UnknownSubjectException if there is no such dead letter
   */
  public ChangeResult replay(
      Requester requester, Position position, Correction correction, String reason) {
    try (DeadLetterReader.Session session = reader.open()) {
      return replay(requester, session, position, correction, reason);
    }
  }

  /**
   * Publishes dead letters again as they are, each as {@link #replay} does, in the given order.
   *
   * @throws ImpossibleChangeException if the idempotency key was used for a different request
   */
  public List<BulkResult<Position>> replayAll(
      Requester requester, List<Position> positions, String reason) {
    try (DeadLetterReader.Session session = reader.open()) {
      return bulk.make(
          requester,
          positions,
          position -> request(requester, position, Correction.NONE, reason),
          (one, position) -> replay(one, session, position, Correction.NONE, reason));
    }
  }

  private ChangeResult replay(
      Requester requester,
      DeadLetterReader.Session session,
      Position position,
      Correction correction,
      String reason) {
    if (!reader.topics().contains(position.topic())) {
      throw new UnknownSubjectException(
          "'%s' is not a dead-letter topic; the dead-letter topics are %s"
              .formatted(position.topic(), reader.topics()));
    }
    String subject = position.toString();
    return change.make(
        request(requester, position, correction, reason),
        () -> {
          if (requester.idempotencyKey() == null
              && audit.latest(subject, Kind.REPLAY_DEAD_LETTER).isPresent()) {
            return Effect.unchanged(subject);
          }
          DeadLetterReader.Republished replay =
              session
                  .replay(position, correction)
                  .orElseThrow(
                      () -> new UnknownSubjectException("there is no dead letter " + subject));
          return Effect.changed(
              subject, null, new Replayed(replay.position(), correction.isAny(), replay.orderId()));
        });
  }

  private static AuditLog.Request request(
      Requester requester, Position position, Correction correction, String reason) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("deadLetter", position.toString());
    details.put("value", correction.value() == null ? "" : correction.value());
    if (correction.key() != null) {
      details.put("key", correction.key());
    }
    return requester.request(Kind.REPLAY_DEAD_LETTER, reason, details);
  }
}
