package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.intake.GroupGenerations;
import io.ordertimeout.orders.intake.GroupGenerations.Generation;
import io.ordertimeout.orders.operator.AuditedChange.Effect;
import java.util.Map;
import org.springframework.stereotype.Component;

/** The operator commands on the consumer group whose members share the shards. Thread-safe. */
@Component
public class GroupCommands {

  private final GroupGenerations generations;
  private final AuditedChange change;

  GroupCommands(GroupGenerations generations, AuditedChange change) {
    this.generations = generations;
    this.change = change;
  }

  /** Returns the generation of the group that the instances use. */
  public Generation current() {
    return generations.current();
  }

  /**
   * Moves all instances from a generation of the consumer group to the next one. Has no effect if
   * they have left that generation already.
   *
   * @throws UnknownSubjectException if they have never used that generation
   */
  public ChangeResult advance(Requester requester, int from, String reason) {
    return change.make(
        requester.request(Kind.ADVANCE_GROUP, reason, Map.of("generation", from)),
        () -> {
          Generation before = generations.generation(from);
          if (from < 1 || from > generations.current().number()) {
            throw new UnknownSubjectException("there is no generation " + from + " of the group");
          }
          if (!generations.advance(from)) {
            return Effect.unchanged(before.groupId());
          }
          return Effect.changed(before.groupId(), before, generations.generation(from + 1));
        });
  }
}
