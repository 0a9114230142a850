package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.intake.deadletter.DeadLetterReader;
import io.ordertimeout.orders.operator.AuditedChange.Effect;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** What an operator can do to a dead letter. Thread-safe. */
@Component
public class DeadLetterCommands {

  private record Replayed(String to, boolean corrected) {}

  private final DeadLetterReader shelf;
  private final AuditLog actions;
  private final AuditedChange change;

  DeadLetterCommands(DeadLetterReader shelf, AuditLog actions, AuditedChange change) {
    this.shelf = shelf;
    this.actions = actions;
    this.change = change;
  }

  /**
   * Publishes a dead letter again where it came from. Once, unless it is asked for under a key; but
   * where this fails halfway it may be published twice, which changes nothing.
   *
   * @param value what to publish instead of its value; null for its value
   * @throws UnknownSubjectException if there is no such dead letter
   */
  public ChangeResult replay(
      Requester requester,
      String topic,
      int partition,
      long offset,
      @Nullable String value,
      String reason) {
    String subject = topic + "-" + partition + "@" + offset;
    if (!shelf.topics().contains(topic)) {
      throw new UnknownSubjectException(
          "'%s' is no dead-letter topic; those are %s".formatted(topic, shelf.topics()));
    }
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("deadLetter", subject);
    details.put("value", value == null ? "" : value);
    return change.make(
        requester.wish(Kind.REPLAY_DEAD_LETTER, reason, details),
        () -> {
          if (requester.idempotencyKey() == null
              && actions.latest(subject, Kind.REPLAY_DEAD_LETTER).isPresent()) {
            return Effect.wasSo(subject);
          }
          byte[] bytes = value == null ? null : value.getBytes(StandardCharsets.UTF_8);
          String to =
              shelf
                  .replay(topic, partition, offset, bytes)
                  .orElseThrow(
                      () -> new UnknownSubjectException("there is no dead letter " + subject));
          return Effect.changed(subject, null, new Replayed(to, value != null));
        });
  }
}
