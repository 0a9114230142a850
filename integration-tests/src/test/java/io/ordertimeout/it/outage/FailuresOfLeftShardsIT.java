package io.ordertimeout.it.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Guests;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.traffic.Deadlines;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What fails for a shard is no concern of an instance that the shard has left: otherwise it would
 * not become ready until the same happens to succeed for another shard.
 */
@Tag("faults")
class FailuresOfLeftShardsIT {

  private final ErrorInjector errors = new ErrorInjector();
  @AutoClose private final Scenario scenario = Scenario.create();

  @Test
  void aDecisionThatFailsUntilItsShardLeavesIsForgotten() {
    try (Service service = scenario.startService(errors.interceptors())) {
      service.awaitOwnedShards(Scenario.PARTITIONS);
      for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
        scenario.createPending("due-" + shard, shard);
      }
      errors.fail("set state = 'CANCELLED'");
      Deadlines.passNow(scenario.database(), "due-0", "due-1", "due-2");
      awaitFailing(service, "expiry");

      assertReadyOnceTheShardsHaveLeft(service);
    }
  }

  @Test
  void aRebuildThatFailsUntilItsShardLeavesIsForgotten() {
    errors.fail("select d.id, d.deadline, d.grace_seconds");
    try (Service service = scenario.startService(errors.interceptors())) {
      service.awaitOwnedShards(Scenario.PARTITIONS);
      awaitFailing(service, "shard-rebuild");

      assertReadyOnceTheShardsHaveLeft(service);
    }
  }

  private static void awaitFailing(Service service, String step) {
    await(step + " to fail").until(() -> service.gauge("order.timeout.failing", "step", step) > 0);
    assertThat(service.isReady()).isFalse();
  }

  /** While the errors last, so nothing can have succeeded. */
  private void assertReadyOnceTheShardsHaveLeft(Service service) {
    try (Guests guests = Guests.forAllShards(scenario)) {
      await("no shards, and no failure")
          .untilAsserted(
              () -> {
                guests.poll();
                assertThat(service.ownedShards()).isZero();
                assertThat(service.gauge("order.timeout.failing")).isZero();
                assertThat(service.isReady()).isTrue();
              });
    }
  }
}
