package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests of the delivery of due timers, also to listeners that are slow or throw. */
class ShardedTimersDeliveryTest extends ShardedTimersTestBase {

  @Test
  void aFloodOfChangesDoesNotHoldBackWhatIsDue() throws InterruptedException {
    CountDownLatch flooded = new CountDownLatch(1);
    List<Long> pendingAtDelivery = new CopyOnWriteArrayList<>();
    beforeQueueing =
        batch -> {
          awaitQuietly(flooded);
          pendingAtDelivery.add(timers.pending(0));
          batch.done();
        };
    timers.open(0);
    int due = 4 * BATCH;
    timers.schedule(0, LongStream.range(0, due).toArray(), new long[due], due);
    long[] ids = LongStream.range(due, due + 8 * ShardedTimers.CHUNK).toArray();
    long[] deadlinesMillis = LongStream.generate(() -> NOW + 100_000).limit(ids.length).toArray();
    timers.schedule(0, ids, deadlinesMillis, ids.length);

    flooded.countDown();
    awaitIdle();
    assertThat(pendingAtDelivery).hasSizeGreaterThanOrEqualTo(4);
    assertThat(pendingAtDelivery.get(2))
        .as("two batches and at most two large changes later")
        .isLessThanOrEqualTo(due + 3L * ShardedTimers.CHUNK);
    assertThat(timers.pending()).isEqualTo(ids.length);
  }

  @Test
  void deliversDueTimersAndNoneEarly() throws InterruptedException {
    timers.open(4);
    timers.schedule(4, new long[] {1, 2, 3, 9}, new long[] {NOW + 20, NOW + 10, NOW + 30, 0}, 3);

    setClock(NOW + 9);
    assertThat(batches).isEmpty();
    assertThat(timers.pending(4)).isEqualTo(3);

    setClock(NOW + 20);
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
    awaitIdle();
    assertThat(timers.pending(4)).isEqualTo(1);
    assertThat(timers.pending()).isEqualTo(1);
  }

  @Test
  void listenerOnAnExecutorMarksEachBatchAsDone() throws InterruptedException {
    BlockingQueue<Runnable> submitted = new LinkedBlockingQueue<>();
    DueListener listener =
        DueListener.on(
            submitted::add,
            batch -> {
              batches.add(batch);
              throw new UnsupportedOperationException("on purpose");
            });
    try (ShardedTimers onExecutor =
        new ShardedTimers(
            TimersConfig.builder("executed").batchSize(1).build(), clock, listener, parkStrategy)) {
      onExecutor.open(0);
      onExecutor.schedule(0, new long[] {1, 2}, new long[] {NOW - 20, NOW - 10}, 2);
      parkStrategy.awaitIdle(onExecutor);
      assertThat(submitted).hasSize(1);

      Runnable first = submitted.remove();
      assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(first::run);

      assertThat(submitted.take()).as("the next batch").isNotSameAs(first);
      assertThat(onlyBatch().ids()).containsExactly(1);
    }
  }

  @Test
  void slowConsumerHoldsBackOnlyItsShard() throws InterruptedException {
    timers.open(0);
    timers.open(1);
    for (int id = 0; id < 2 * BATCH; id++) {
      timers.schedule(0, id, NOW);
    }
    awaitIdle();
    DueBatch slow = batches.remove();
    timers.schedule(1, 100, NOW);
    awaitIdle();

    batches.add(slow);
    assertThat(batches).extracting(DueBatch::shard).containsExactlyInAnyOrder(0, 1);
    assertThat(timers.pending(0)).isEqualTo(2L * BATCH);

    List<Long> delivered = new ArrayList<>();
    while (timers.pending() > 0) {
      for (DueBatch batch = batches.poll(); batch != null; batch = batches.poll()) {
        for (long id : batch.ids()) {
          delivered.add(id);
        }
        batch.done();
      }
      awaitIdle();
    }
    assertThat(delivered).containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L, 5L, 100L);
  }

  @Test
  void rejectedBatchIsDeliveredAgainAfterTheRetryDelay() throws InterruptedException {
    AtomicInteger rejections = new AtomicInteger();
    beforeQueueing =
        batch -> {
          if (batch.shard() == 0 && rejections.incrementAndGet() <= 2) {
            throw new RejectedExecutionException("full");
          }
        };
    timers.open(0);
    timers.open(1);
    timers.schedule(0, new long[] {1, 2}, new long[] {NOW - 5, NOW}, 2);
    timers.schedule(1, 7, NOW);
    awaitIdle();

    assertThat(onlyBatch().shard()).as("the other shard continues").isEqualTo(1);
    assertThat(timers.pending(0)).isEqualTo(2);
    assertThat(log.messages()).singleElement().asString().contains("Shard 0", "rejected 2");
    assertThat(parkStrategy.lastNanos()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(100));

    setClock(NOW + 99);
    assertThat(rejections).hasValue(1);
    setClock(NOW + 100);
    assertThat(rejections).hasValue(2);
    setClock(NOW + 200);
    DueBatch batch = onlyBatch();
    assertThat(batch.ids()).containsExactlyInAnyOrder(1, 2);
    assertThat(batch.latestDeadlineMillis()).isEqualTo(NOW);
    assertThat(log.messages()).as("logged once for consecutive rejections").hasSize(1);
  }

  @Test
  void clockGoingBackDoesNotProlongTheBackOff() throws InterruptedException {
    beforeQueueing =
        batch -> {
          throw new RejectedExecutionException("full");
        };
    timers.open(0);
    timers.schedule(0, 1, NOW - 2_000_000);
    awaitIdle();
    beforeQueueing = batch -> {};

    setClock(NOW - 1_000_000);
    assertThat(batches).isEmpty();
    setClock(NOW - 1_000_000 + 100);
    assertThat(onlyBatch().ids()).containsExactly(1);
  }

  @Test
  void timerCancelledDuringARejectionStaysCancelled() throws InterruptedException {
    beforeQueueing =
        batch -> {
          timers.cancel(0, 1);
          timers.schedule(0, 2, NOW + 5000);
          throw new RejectedExecutionException("full");
        };
    timers.open(0);
    timers.schedule(0, new long[] {1, 2, 3}, new long[] {NOW, NOW, NOW}, 3);
    awaitIdle();
    beforeQueueing = batch -> {};

    setClock(NOW + 100);
    assertThat(onlyBatch().ids()).containsExactly(3);
    assertThat(timers.pending(0)).isEqualTo(2);
  }

  @Test
  void batchDoneBeforeTheListenerThrowsStaysDone() throws InterruptedException {
    beforeQueueing =
        batch -> {
          batch.done();
          throw new IllegalArgumentException("too late");
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);
    awaitIdle();

    assertThat(timers.pending(0)).isZero();
    assertThat(log.messages()).singleElement().asString().contains("was done");
  }

  @Test
  void listenerErrorDoesNotEndTheWorker() throws InterruptedException {
    AtomicBoolean thrown = new AtomicBoolean();
    beforeQueueing =
        batch -> {
          if (!thrown.getAndSet(true)) {
            throw new NoClassDefFoundError("gone");
          }
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);
    awaitIdle();
    setClock(NOW + 100);

    assertThat(onlyBatch().ids()).containsExactly(1);
  }

  @Test
  void failingClockLosesNoTimers() throws InterruptedException {
    clock.setBroken(true);
    timers.open(0);
    timers.schedule(0, 1, NOW);
    awaitIdle();
    assertThat(log.messages()).anyMatch(message -> message.contains("turn failed"));

    clock.setBroken(false);
    awaitIdle();
    assertThat(onlyBatch().ids()).containsExactly(1);
  }

  @Test
  void clockJumpingForwardAndBackDelaysNothing() throws InterruptedException {
    beforeQueueing =
        batch -> {
          throw new RejectedExecutionException("not due by the store's clock");
        };
    timers.open(0);
    setClock(NOW + 86_400_000);
    timers.schedule(0, 1, NOW + 10);
    awaitIdle();
    beforeQueueing = batch -> {};

    setClock(NOW);
    setClock(NOW + 9);
    assertThat(batches).isEmpty();
    setClock(NOW + 100);
    assertThat(onlyBatch().ids()).containsExactly(1);
  }

  @Test
  void parksUntilTheNextDeadlineWithoutPolling() throws InterruptedException {
    timers.open(0);
    awaitIdle();
    assertThat(parkStrategy.lastNanos()).as("nothing armed").isEqualTo(Long.MAX_VALUE);

    timers.schedule(0, 1, NOW + 40);
    awaitIdle();
    assertThat(parkStrategy.lastNanos()).isLessThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(40));

    setClock(NOW + 40);
    DueBatch batch = onlyBatch();
    assertThat(parkStrategy.lastNanos()).as("delivered, not done").isEqualTo(Long.MAX_VALUE);
    batch.done();
    awaitIdle();
    assertThat(parkStrategy.lastNanos()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void survivesInterruptOfTheWorker() throws InterruptedException {
    beforeQueueing = batch -> Thread.currentThread().interrupt();
    timers.open(0);
    timers.schedule(0, 1, NOW);
    awaitIdle();
    awaitIdle();

    assertThat(onlyBatch().ids()).containsExactly(1);
  }
}
