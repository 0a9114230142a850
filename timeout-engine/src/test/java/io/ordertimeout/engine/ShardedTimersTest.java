package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ShardedTimersTest {

  private static final long NOW = 1_700_000_000_000L;
  private static final int BATCH = 3;

  private final ManualClock clock = new ManualClock(NOW);
  private final ObservedParking parking = new ObservedParking();
  private final BlockingQueue<DueBatch> batches = new LinkedBlockingQueue<>();
  private final CapturedLog log = new CapturedLog();

  /** What the listener does before it queues the batch. */
  private volatile DueListener first = batch -> {};

  private final ShardedTimers timers = timers(16);

  private ShardedTimers timers(int queueCapacity) {
    TimersConfig config =
        new TimersConfig(
            "wheel",
            Duration.ofMillis(1),
            BATCH,
            queueCapacity,
            Duration.ofMillis(100),
            Duration.ofSeconds(1),
            Long.MAX_VALUE);
    return new ShardedTimers(
        config,
        clock,
        batch -> {
          first.onDue(batch);
          batches.add(batch);
        },
        parking);
  }

  @AfterEach
  void close() {
    timers.close();
    log.close();
  }

  private void settle() throws InterruptedException {
    parking.settle(timers);
  }

  private void moveTo(long nowMillis) throws InterruptedException {
    clock.set(nowMillis);
    settle();
  }

  private DueBatch onlyBatch() {
    assertThat(batches).hasSize(1);
    return batches.remove();
  }

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
  void loadingDoesNotResurrectWhatChangedSinceOpen() throws InterruptedException {
    timers.openForLoading(0);
    timers.cancel(0, 1);
    timers.schedule(0, 2, NOW + 5000);
    timers.schedule(0, 3, NOW);
    settle();
    onlyBatch().done();
    timers.load(
        0,
        new long[] {1, 2, 3, 4, 5},
        new long[] {NOW + 10, NOW + 10, NOW + 10, NOW + 10, NOW + 5000},
        5);
    timers.load(0, new long[] {5}, new long[] {NOW + 6000}, 1);
    timers.loaded(0);

    moveTo(NOW + 10);
    DueBatch batch = onlyBatch();
    assertThat(batch.ids()).containsExactly(4);
    batch.done();
    settle();
    assertThat(timers.pending(0)).as("2 and 5").isEqualTo(2);

    timers.load(0, new long[] {1, 2}, new long[] {NOW + 20, NOW + 20}, 2);
    moveTo(NOW + 20);
    assertThat(onlyBatch().ids()).as("armed once the memory is gone").containsExactly(1);
  }

  @Test
  void servesWhileLoading() throws InterruptedException {
    timers.openForLoading(0);
    timers.load(0, new long[] {1}, new long[] {NOW - 1}, 1);
    settle();

    assertThat(onlyBatch().ids()).containsExactly(1);
  }

  @Test
  void aDroppedShardForgetsItsTimersAndIgnoresChanges() throws InterruptedException {
    timers.open(0);
    timers.schedule(0, new long[] {1, 2}, new long[] {NOW, NOW + 10}, 2);
    settle();
    timers.drop(0);
    timers.schedule(0, 3, NOW);
    timers.load(0, new long[] {4}, new long[] {NOW}, 1);
    timers.cancel(0, 2);
    timers.loaded(0);
    settle();

    onlyBatch().done();
    moveTo(NOW + 10);
    assertThat(batches).isEmpty();
    assertThat(timers.pending(0)).isZero();
  }

  @Test
  void openingAnOpenShardReplacesIt() throws InterruptedException {
    timers.openForLoading(0);
    timers.schedule(0, new long[] {1, 2}, new long[] {NOW, NOW + 10}, 2);
    settle();
    DueBatch old = onlyBatch();
    timers.openForLoading(0);
    timers.load(0, new long[] {3, 4}, new long[] {NOW, NOW + 10}, 2);
    settle();
    assertThat(onlyBatch().ids()).containsExactly(3);

    old.done();
    moveTo(NOW + 10);
    assertThat(batches).as("the new batch still holds back the shard").isEmpty();
    assertThat(timers.pending(0)).isEqualTo(2);
  }

  @Test
  void stopReturnsWhatIsArmedButNotWhatIsHandedOut() throws InterruptedException {
    timers.open(0);
    timers.open(1);
    timers.schedule(0, 1, NOW);
    settle();
    long[] ids = new long[5000];
    long[] deadlinesMillis = new long[5000];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = 100L + i;
      deadlinesMillis[i] = NOW + 1000L + i;
    }
    timers.schedule(0, ids, deadlinesMillis, ids.length);

    List<ArmedTimers> armed = timers.stop();

    assertThat(armed).extracting(ArmedTimers::shard).containsExactlyInAnyOrder(0, 1);
    ArmedTimers ofShard0 = armed.get(armed.get(0).shard() == 0 ? 0 : 1);
    assertThat(ofShard0.size()).isEqualTo(5000);
    assertThat(ofShard0.deadlineMillis(0) - NOW - 1000).isEqualTo(ofShard0.id(0) - 100);
    assertThat(ofShard0).hasToString("ArmedTimers[shard=0, size=5000]");
    assertThat(timers.stop()).isSameAs(armed);
    assertThat(timers.pending()).isZero();
  }

  @Test
  void rejectsChangesOnceClosed() {
    timers.close();
    timers.close();
    timers.clockChanged();

    assertThatIllegalStateException()
        .isThrownBy(() -> timers.open(0))
        .withMessage("stopped, and cannot be started again; make new timers");
    assertThatIllegalStateException().isThrownBy(() -> timers.schedule(0, 1, 1));
    assertThatIllegalStateException().isThrownBy(() -> timers.cancel(0, 1));
    assertThatIllegalStateException().isThrownBy(() -> timers.drop(0));
  }

  @Test
  void theListenerMayCloseButNotStop() throws InterruptedException {
    CountDownLatch scheduled = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    first =
        batch -> {
          awaitQuietly(scheduled);
          assertThatIllegalStateException().isThrownBy(timers::stop);
          timers.close();
          closed.countDown();
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);
    scheduled.countDown();

    closed.await();
    assertThat(timers.stop()).singleElement().extracting(ArmedTimers::size).isEqualTo(0);
  }

  @Test
  void rejectsArraysThatAreTooShort() {
    long[] two = new long[2];

    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> timers.schedule(0, two, new long[1], 2));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> timers.load(0, two, two, 3));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> timers.cancel(0, two, -1));
  }

  @Test
  void copiesTheArrays() throws InterruptedException {
    timers.open(0);
    long[] ids = {1, 2};
    long[] deadlinesMillis = {NOW + 10, NOW + 10};
    timers.schedule(0, ids, deadlinesMillis, 2);
    ids[0] = 9;
    deadlinesMillis[1] = NOW;

    settle();
    assertThat(batches).isEmpty();
    moveTo(NOW + 10);
    assertThat(onlyBatch().ids()).containsExactlyInAnyOrder(1, 2);
  }

  @Test
  void callersWaitWhileTheQueueIsFull() throws InterruptedException {
    CountDownLatch inListener = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    first =
        batch -> {
          inListener.countDown();
          awaitQuietly(release);
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);
    inListener.await();
    AtomicInteger accepted = new AtomicInteger();
    AtomicBoolean interruptedAfter = new AtomicBoolean();
    Thread caller =
        new Thread(
            () -> {
              for (int i = 0; i < 50; i++) {
                timers.schedule(0, 100 + i, NOW + 1000);
                accepted.incrementAndGet();
              }
              interruptedAfter.set(Thread.currentThread().isInterrupted());
            });
    caller.start();
    awaitWaiting(caller);
    assertThat(accepted).hasValue(16);
    caller.interrupt();

    release.countDown();
    caller.join();
    settle();
    assertThat(accepted).hasValue(50);
    assertThat(interruptedAfter).isTrue();
    assertThat(timers.pending(0)).isEqualTo(51);
  }

  @Test
  void callersThatWaitLearnOfTheClosing() throws InterruptedException {
    CountDownLatch inListener = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    first =
        batch -> {
          inListener.countDown();
          awaitQuietly(release);
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);
    inListener.await();
    AtomicInteger accepted = new AtomicInteger();
    AtomicReference<String> failure = new AtomicReference<>("");
    Thread caller =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < 50; i++) {
                  timers.schedule(0, 100 + i, NOW + 1000);
                  accepted.incrementAndGet();
                }
              } catch (IllegalStateException e) {
                failure.set(e.getMessage());
              }
            });
    caller.start();
    awaitWaiting(caller);
    Thread stopper = new Thread(timers::close);
    stopper.start();
    caller.join();
    release.countDown();
    stopper.join();

    assertThat(failure).hasValueMatching(message -> message.startsWith("stopped"));
    assertThat(timers.stop()).singleElement().extracting(ArmedTimers::size).isEqualTo(16);
    assertThat(accepted).hasValue(16);
  }

  @Test
  void theListenerNeverWaitsAndItsChangesKeepTheirOrder() throws InterruptedException {
    first =
        batch -> {
          first = later -> {};
          for (int i = 0; i < 100; i++) {
            timers.schedule(0, 7, NOW + 1000 + i);
            timers.schedule(0, 100 + i, NOW + 5000);
            timers.cancel(0, 100 + i);
          }
        };
    timers.open(0);
    timers.schedule(0, 1, NOW);
    settle();
    onlyBatch().done();
    settle();

    assertThat(timers.pending(0)).isEqualTo(1);
    moveTo(NOW + 1098);
    assertThat(batches).isEmpty();
    moveTo(NOW + 1099);
    assertThat(onlyBatch().ids()).containsExactly(7);
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

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void awaitWaiting(Thread thread) {
    while (thread.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
  }
}
