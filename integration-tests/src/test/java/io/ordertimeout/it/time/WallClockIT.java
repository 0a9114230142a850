package io.ordertimeout.it.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.ServiceProcess;
import io.ordertimeout.it.support.ShiftedClock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberDescription;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An instance whose wall clock is set back by ten minutes while it shares the shards with another
 * one. Kafka's consumer, whose timers follow that clock, would send no heartbeat for as long.
 */
@Tag("faults")
class WallClockIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration TEN_MINUTES = Duration.ofMinutes(10);
  private static final String OWNED = "order.timeout.owned.shards";

  @TempDir private Path directory;

  private final Scenario scenario = Scenario.create();

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void anInstanceRejoinsItsGroupWhenItsClockIsSet() {
    ShiftedClock clock = ShiftedClock.in(directory);
    try (ServiceProcess shifted = scenario.startProcess(scenario.name() + "-shifted", clock)) {
      shifted.awaitReady();
      try (Service other = scenario.startService()) {
        awaitShared(shifted, other);
        Set<String> before = members();

        clock.set(TEN_MINUTES.negated());

        await("a new member instead of the one that sends no heartbeats")
            .atMost(PATIENCE)
            .until(() -> members().size() == 2 && !before.containsAll(members()));
        awaitShared(shifted, other);
      }
      awaitOwned(shifted, Scenario.PARTITIONS);
      passDeadlines("set-back");
      shifted.awaitReady();
      Set<String> behind = members();

      clock.set(Duration.ZERO);

      await("a new member").atMost(PATIENCE).until(() -> isReplaced(behind));
      awaitOwned(shifted, Scenario.PARTITIONS);
      passDeadlines("right-again");
      scenario.awaitQuiet();
    }
    assertThat(scenario.outcomes().cancelled()).hasSize(2 * Scenario.PARTITIONS);
  }

  private boolean isReplaced(Set<String> before) {
    return members().size() == 1 && !before.equals(members());
  }

  private void passDeadlines(String prefix) {
    for (int partition = 0; partition < Scenario.PARTITIONS; partition++) {
      scenario.passDeadline(prefix + "-" + partition, partition);
    }
  }

  private Set<String> members() {
    ConsumerGroupDescription group =
        Scenario.get(
            Objects.requireNonNull(
                scenario
                    .admin()
                    .describeConsumerGroups(List.of(scenario.name()))
                    .describedGroups()
                    .get(scenario.name())));
    return group.members().stream().map(MemberDescription::consumerId).collect(Collectors.toSet());
  }

  private static void awaitShared(ServiceProcess shifted, Service other) {
    await("a share for each instance")
        .atMost(PATIENCE)
        .until(
            () ->
                owned(shifted) > 0
                    && other.gauge(OWNED) > 0
                    && owned(shifted) + other.gauge(OWNED) == Scenario.PARTITIONS);
  }

  private static void awaitOwned(ServiceProcess service, int shards) {
    await(shards + " shards").atMost(PATIENCE).until(() -> owned(service) == shards);
  }

  private static double owned(ServiceProcess service) throws IOException {
    return service.metric("order_timeout_owned_shards").orElse(0);
  }
}
