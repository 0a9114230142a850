package io.ordertimeout.it.instances;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An instance takes shards over from one that does not know yet that it has lost them. */
@Tag("faults")
class TakeOverIT {

  private static final Duration UNTIL_THE_FORMER_HAS_STOPPED = Duration.ofSeconds(20);

  @AutoClose private final Scenario scenario = Scenario.create();

  /** It would have the others stopped during a rollout, while nobody serves its shards. */
  @Test
  void anInstanceIsNotReadyBeforeItHasAcquiredTheShardsThatItWasAssigned() {
    try (Service former = scenario.startService()) {
      former.awaitReady(true);
      scenario.awaitQuiet();
    }
    CompletableFuture<Service> starting = new CompletableFuture<>();
    CompletableFuture<Boolean> readyMeanwhile = new CompletableFuture<>();
    try (Service started =
        scenario.startService(
            List.of(
                Interceptors.consumers(
                    call -> {
                      if (call.getMethod().getName().equals("committed")
                          && !readyMeanwhile.isDone()) {
                        Service service = starting.join();
                        servedUntilNow();
                        readyMeanwhile.complete(service.isReady());
                      }
                      return call.proceed();
                    })))) {
      starting.complete(started);
      started.awaitReady(true);
      assertThat(readyMeanwhile).isCompletedWithValue(false);
    }
  }

  /** As if the instance that has just stopped had served all shards until now. */
  private void servedUntilNow() {
    scenario
        .database()
        .execute(
            """
            insert into shard_heartbeat (shard, alive_at)
            select shard, clock_timestamp() from generate_series(0, ? - 1) as shard
            on conflict (shard) do update set alive_at = excluded.alive_at
            """,
            Scenario.PARTITIONS);
  }

  /** As while the instances move to another group: each is the owner in its own. */
  // The former owner is closed early.
  @SuppressWarnings("try")
  @Test
  void anOrderThatTheFormerOwnerStoresMeanwhileIsInTheWheelOfTheNewOne() {
    AtomicBoolean stored = new AtomicBoolean();
    try (Service former = scenario.startService()) {
      former.awaitReady(true);
      try (Service next =
          scenario.startService(
              // The new owner asks for its group's offsets before it reads its positions.
              List.of(
                  Interceptors.consumers(
                      call -> {
                        if (call.getMethod().getName().equals("committed")
                            && stored.compareAndSet(false, true)) {
                          scenario.create("order", 0, Scenario.in(UNTIL_THE_FORMER_HAS_STOPPED));
                          scenario.awaitState("order", "PENDING");
                        }
                        return call.proceed();
                      })),
              "order-timeout.intake.group-id",
              scenario.name() + "-next",
              // Would find an order that is in no wheel.
              "order-timeout.reconciler.interval",
              "1h")) {
        next.awaitReady(true);
        assertThat(stored).isTrue();
        former.close();

        scenario.outcomes().awaitCancelled("order");
        assertThat(next.counter("order.timeout.repaired")).isZero();
      }
    }
  }
}
