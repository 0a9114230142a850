package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.intake.deadletter.DeadLetterReader.DeadLetter;
import io.ordertimeout.orders.intake.deadletter.DeadLetterReader.Replay;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.databind.JsonNode;

/** Finds out which dead letters were replayed, by the audit log. Thread-safe. */
@Component
public class DeadLetterReplays {

  /**
   * The dead letters of a topic with the same fault.
   *
   * @param topic the dead-letter topic
   * @param fault the fault
   * @param letters how many there are
   * @param replayed how many of them were replayed
   * @param first when the earliest of them was published
   * @param latest when the latest of them was published
   */
  public record Group(
      String topic, String fault, int letters, int replayed, Instant first, Instant latest) {}

  private final AuditLog audit;

  DeadLetterReplays(AuditLog audit) {
    this.audit = audit;
  }

  /** Returns the dead letters with their latest replays; one statement for all. */
  public List<DeadLetter> mark(List<DeadLetter> letters) {
    Map<String, OperatorAction> replays =
        audit.latest(
            letters.stream().map(letter -> letter.position().toString()).toList(),
            Kind.REPLAY_DEAD_LETTER);
    return letters.stream()
        .map(letter -> letter.with(replay(replays.get(letter.position().toString()))))
        .toList();
  }

  /** Groups dead letters by topic and fault, the largest group first. */
  public List<Group> group(List<DeadLetter> letters) {
    record Key(String topic, String fault) {}
    return mark(letters).stream()
        .collect(Collectors.groupingBy(letter -> new Key(letter.topic(), letter.fault())))
        .entrySet()
        .stream()
        .map(group -> group(group.getKey().topic(), group.getKey().fault(), group.getValue()))
        .sorted(
            Comparator.comparing(Group::letters)
                .reversed()
                .thenComparing(Group::latest, Comparator.reverseOrder()))
        .toList();
  }

  private static Group group(String topic, String fault, List<DeadLetter> letters) {
    List<Instant> times = letters.stream().map(DeadLetter::at).sorted().toList();
    return new Group(
        topic,
        fault,
        letters.size(),
        (int) letters.stream().filter(letter -> letter.replay() != null).count(),
        times.get(0),
        times.get(times.size() - 1));
  }

  private static @Nullable Replay replay(@Nullable OperatorAction action) {
    if (action == null) {
      return null;
    }
    JsonNode after = action.after();
    return new Replay(
        action.at(),
        action.actor(),
        after == null ? "" : after.path("to").asString(""),
        after != null && after.path("corrected").asBoolean(false));
  }
}
