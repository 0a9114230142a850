package io.ordertimeout.it.chaos;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The order of the faults: those that every run contains, then all others in random order, then all
 * faults in random order again and again.
 */
final class FaultScript {

  /** The faults that the shortest run contains. */
  static final List<Fault> FIRST =
      List.of(
          Fault.POSTGRES_FAILED_OVER_WITH_LOSS,
          Fault.LEADER_KILLED,
          Fault.POSTGRES_FAILED_OVER,
          Fault.INSTANCE_KILLED);

  private final Random random;
  private final List<Fault> faults;
  private final List<Fault> remaining = new ArrayList<>();
  private final Map<Fault, Integer> drawn = new EnumMap<>(Fault.class);

  /** Creates a script of those faults. */
  FaultScript(Random random, List<Fault> faults) {
    this.random = random;
    this.faults = List.copyOf(faults);
    remaining.addAll(faults);
    remaining.removeAll(FIRST);
    Collections.shuffle(remaining, random);
    remaining.addAll(0, FIRST.stream().filter(faults::contains).toList());
  }

  Fault next() {
    if (remaining.isEmpty()) {
      remaining.addAll(faults);
      Collections.shuffle(remaining, random);
    }
    Fault next = remaining.remove(0);
    drawn.merge(next, 1, Integer::sum);
    return next;
  }

  /** How often each fault has been drawn. */
  Map<Fault, Integer> drawn() {
    return Collections.unmodifiableMap(drawn);
  }

  /** How many faults have been drawn. */
  int count() {
    return drawn.values().stream().mapToInt(Integer::intValue).sum();
  }

  boolean hasDrawn(Collection<Fault> faults) {
    return drawn.keySet().containsAll(faults);
  }
}
