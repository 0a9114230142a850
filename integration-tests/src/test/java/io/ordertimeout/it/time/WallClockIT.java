package io.ordertimeout.it.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Instance;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.ServiceProcess;
import io.ordertimeout.it.support.ShiftedClock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An instance whose wall clock is set back by ten minutes while it shares the shards with another
 * one. Kafka's consumer, whose timers follow that clock, would send no heartbeat for as long.
 */
@Tag("faults")
class WallClockIT {

  private static final Duration TEN_MINUTES = Duration.ofMinutes(10);

  @TempDir private Path directory;

  @AutoClose private final Scenario scenario = Scenario.create();

  @Test
  void anInstanceRejoinsItsGroupWhenItsClockIsSet() {
    ShiftedClock clock = ShiftedClock.in(directory);
    try (ServiceProcess shifted = scenario.startProcess(scenario.name() + "-shifted", clock)) {
      shifted.awaitReady();
      try (Service other = scenario.startService()) {
        Instance.awaitShared(shifted, other);
        Set<String> before = scenario.groupMembers();

        clock.set(TEN_MINUTES.negated());

        await("a new member instead of the one that sends no heartbeats")
            .until(
                () ->
                    scenario.groupMembers().size() == 2
                        && !before.containsAll(scenario.groupMembers()));
        Instance.awaitShared(shifted, other);
      }
      shifted.awaitOwnedShards(Scenario.PARTITIONS);
      passDeadlines("set-back");
      shifted.awaitReady();
      Set<String> behind = scenario.groupMembers();

      clock.set(Duration.ZERO);

      await("a new member").until(() -> isReplaced(behind));
      shifted.awaitOwnedShards(Scenario.PARTITIONS);
      passDeadlines("right-again");
      scenario.awaitQuiet();
    }
    assertThat(scenario.outcomes().cancelled()).hasSize(2 * Scenario.PARTITIONS);
  }

  private boolean isReplaced(Set<String> before) {
    return scenario.groupMembers().size() == 1 && !before.equals(scenario.groupMembers());
  }

  private void passDeadlines(String prefix) {
    for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
      scenario.passDeadline(prefix + "-" + partition, partition);
    }
  }
}
