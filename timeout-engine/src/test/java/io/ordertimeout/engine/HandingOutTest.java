package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How the front hands out what is due, and what a listener that is slow or throws does to it. */
class HandingOutTest extends RunningFront {

  @Test
  void handsOutWhatIsDueAndNothingEarly() throws InterruptedException {
    timers.open(4);
    timers.schedule(4, new long[] {1, 2, 3, 9}, new long[] {NOW + 20, NOW + 10, NOW + 30, 0}, 3);

    moveTo(NOW + 9);
    assertThat(batches).isEmpty();
    assertThat(timers.pending(4)).isEqualTo(3);

    moveTo(NOW + 20);
    DueBatch batch = onlyBatch();
    assertThat(batch.shard()).isEqualTo(4);
    assertThat(batch.size()).isEqualTo(2);
    assertThat(batch.ids()).containsExactly(2, 1);
    assertThat(batch.id(0)).isEqualTo(2);
    assertThat(batch.deadlineMillis(0)).isEqualTo(NOW + 10);
    assertThat(batch.latestDeadlineMillis()).isEqualTo(NOW + 20);
    assertThat(batch).hasToString("DueBatch[shard=4, size=2, OPEN]");
    assertThat(timers.pending(4)).isEqualTo(3);

    batch.done();
    batch.done();
    settle();
    assertThat(timers.pending(4)).isEqualTo(1);
    assertThat(timers.pending()).isEqualTo(1);
  }

  @Test
  void aSlowConsumerHoldsBackItsOwnShardOnly() throws InterruptedException {
    timers.open(0);
    timers.open(1);
    for (int id = 0; id < 2 * BATCH; id++) {
      timers.schedule(0, id, NOW);
    }
    settle();
    DueBatch slow = batches.remove();
    timers.schedule(1, 100, NOW);
    settle();

    batches.add(slow);
    assertThat(batches).extracting(DueBatch::shard).containsExactlyInAnyOrder(0, 1);
    assertThat(timers.pending(0)).isEqualTo(2L * BATCH);

    List<Long> handedOut = new ArrayList<>();
    while (timers.pending() > 0) {
      for (DueBatch batch = batches.poll(); batch != null; batch = batches.poll()) {
        for (long id : batch.ids()) {
          handedOut.add(id);
        }
        batch.done();
      }
      settle();
    }
    assertThat(handedOut).containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L, 5L, 100L);
  }

  @Test
  void aRefusedBatchComesBackAfterTheRetryDelay() throws InterruptedException {
    AtomicInteger refusals = new AtomicInteger();
    first =
        batch -> {
          if (batch.shard() == 0 && refusals.incrementAndGet() <= 2) {
            throw new RejectedExecutionException("full");
          }
        };
    timers.open(0);
    timers.open(1);
    timers.schedule(0, new long[] {1, 2}, new long[] {NOW - 5, NOW}, 2);
    timers.schedule(1, 7, NOW);
    settle();

    assertThat(onlyBatch().shard()).as("the other shard goes on").isEqualTo(1);
    assertThat(timers.pending(0)).isEqualTo(2);
    assertThat(log.messages()).singleElement().asString().contains("Shard 0", "refused 2");
    assertThat(parking.lastNanos()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(100));

    moveTo(NOW + 99);
    assertThat(refusals).hasValue(1);
    moveTo(NOW + 100);
    assertThat(refusals).hasValue(2);
    moveTo(NOW + 200);
    DueBatch batch = onlyBatch();
    assertThat(batch.ids()).containsExactlyInAnyOrder(1, 2);
    assertThat(batch.latestDeadlineMillis()).isEqualTo(NOW);
    assertThat(log.messages()).as("once in a row").hasSize(1);
  }

  @Test
  void aClockThatGoesBackDoesNotProlongThePause() throws InterruptedException {
    first =
        batch -> {
          throw new RejectedExecutionException("full");
        };
    timers.open(0);
    timers.schedule(0, 1, NOW - 2_000_000);
    settle();
    first = batch -> {};

    moveTo(NOW - 1_000_000);
    assertThat(batches).isEmpty();
    moveTo(NOW - 1_000_000 + 100);
    assertThat(onlyBatch().ids()).containsExactly(1);
  }

  @Test
  void aRefusedTimerThatIsCancelledMeanwhileStaysCancelled() throws InterruptedException {
    first =
        batch -> {
          timers.cancel(0, 1);
          timers.schedule(0, 2, NOW + 5000);
          throw new RejectedExecutionException("full");
        };
    timers.open(0);
    timers.schedule(0, new long[] {1, 2, 3}, new long[] {NOW, NOW, NOW}, 3);
    settle();
    first = batch -> {};

    moveTo(NOW + 100);
    assertThat(onlyBatch().ids()).containsExactly(3);
    assertThat(timers.pending(0)).isEqualTo(2);
  }

  @Test
  void aBatchThatWasDoneBeforeTheListenerThrewIsDone() throws InterruptedException {
    first =
        batch -> {
          batch.done();
          throw new IllegalArgumentException("too late");
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);
    settle();

    assertThat(timers.pending(0)).isZero();
    assertThat(log.messages()).singleElement().asString().contains("was done");
  }

  @Test
  void anErrorOfTheListenerDoesNotEndTheWorker() throws InterruptedException {
    AtomicBoolean thrown = new AtomicBoolean();
    first =
        batch -> {
          if (!thrown.getAndSet(true)) {
            throw new NoClassDefFoundError("gone");
          }
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);
    settle();
    moveTo(NOW + 100);

    assertThat(onlyBatch().ids()).containsExactly(1);
  }

  @Test
  void aBrokenClockLosesNothing() throws InterruptedException {
    clock.setBroken(true);
    timers.open(0);
    timers.schedule(0, 1, NOW);
    settle();
    assertThat(log.messages()).anyMatch(message -> message.contains("Turn failed"));

    clock.setBroken(false);
    settle();
    assertThat(onlyBatch().ids()).containsExactly(1);
  }

  @Test
  void aClockThatLeapsForthAndBackMakesNothingLate() throws InterruptedException {
    first =
        batch -> {
          throw new RejectedExecutionException("not by the store's clock");
        };
    timers.open(0);
    moveTo(NOW + 86_400_000);
    timers.schedule(0, 1, NOW + 10);
    settle();
    first = batch -> {};

    moveTo(NOW);
    moveTo(NOW + 9);
    assertThat(batches).isEmpty();
    moveTo(NOW + 100);
    assertThat(onlyBatch().ids()).containsExactly(1);
  }

  @Test
  void parksUntilTheNextDeadlineAndNotAtAllPeriodically() throws InterruptedException {
    timers.open(0);
    settle();
    assertThat(parking.lastNanos()).as("nothing armed").isEqualTo(Long.MAX_VALUE);

    timers.schedule(0, 1, NOW + 40);
    settle();
    assertThat(parking.lastNanos()).isLessThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(40));

    moveTo(NOW + 40);
    DueBatch batch = onlyBatch();
    assertThat(parking.lastNanos()).as("handed out, not done").isEqualTo(Long.MAX_VALUE);
    batch.done();
    settle();
    assertThat(parking.lastNanos()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void survivesAnInterruptOfTheWorker() throws InterruptedException {
    first = batch -> Thread.currentThread().interrupt();
    timers.open(0);
    timers.schedule(0, 1, NOW);
    settle();
    settle();

    assertThat(onlyBatch().ids()).containsExactly(1);
  }
}
