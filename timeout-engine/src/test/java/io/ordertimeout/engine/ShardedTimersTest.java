package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of the worker thread, limits, lateness, forecasts and clock changes. */
@Timeout(60)
class ShardedTimersTest {

  private static final long NOW = 1_700_000_000_000L;
  private static final long HOUR = 3_600_000;

  private final ManualClock clock = new ManualClock(NOW);
  private final RecordingParkStrategy parkStrategy = new RecordingParkStrategy();
  private final BlockingQueue<DueBatch> batches = new LinkedBlockingQueue<>();
  private final String name = "features-" + System.identityHashCode(this);
  private final ShardedTimers timers =
      new ShardedTimers(TimersConfig.defaults(name), clock, batches::add, parkStrategy);

  @AfterEach
  void close() {
    timers.close();
  }

  private void setClock(long nowMillis) throws InterruptedException {
    clock.set(nowMillis);
    parkStrategy.awaitIdle(timers);
  }

  private static List<Thread> threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(name))
        .toList();
  }

  @Test
  void startsItsThreadOnTheFirstChange() throws InterruptedException {
    List<Thread> worker = new ArrayList<>();
    try (ShardedTimers lazy =
        new ShardedTimers(TimersConfig.defaults("lazy"), clock, batches::add)) {
      assertThat(lazy.pending()).isZero();
      lazy.clockChanged();
      assertThat(threads("lazy")).isEmpty();

      lazy.open(0);
      worker.addAll(threads("lazy"));
      assertThat(worker).hasSize(1);
    }
    worker.get(0).join();
  }

  @Test
  void stopBeforeTheFirstChangeReturnsNothingAndIsFinal() {
    assertThat(timers.stop()).isEmpty();

    assertThatIllegalStateException()
        .isThrownBy(() -> timers.open(0))
        .withMessageContaining("cannot be restarted");
    assertThat(timers.stop()).isEmpty();
  }

  @Test
  void manyShardsShareOneThread() throws InterruptedException {
    for (int shard = 0; shard < 20; shard++) {
      timers.open(shard);
      timers.schedule(shard, shard, NOW + shard);
    }
    setClock(NOW + 100);

    assertThat(threads(name)).hasSize(1);
    assertThat(batches).extracting(DueBatch::shard).hasSize(20).doesNotHaveDuplicates();
  }

  @Test
  void workerThatCannotBeStartedIsStartedByALaterCall() throws InterruptedException {
    UnreliableThreads threads = new UnreliableThreads(2);
    try (ShardedTimers retried =
        new ShardedTimers(TimersConfig.builder(threads).build(), clock, batches::add)) {
      assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> retried.open(0));
      assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> retried.open(0));

      retried.open(0);
      retried.schedule(0, 1, NOW);
      assertThat(batches.take().ids()).containsExactly(1);
    }
  }

  @Test
  void stopsAlthoughTheWorkerCouldNotBeStarted() {
    UnreliableThreads threads = new UnreliableThreads(1);
    ShardedTimers broken =
        new ShardedTimers(TimersConfig.builder(threads).build(), clock, batches::add);
    assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> broken.open(0));

    assertThat(broken.stop()).isEmpty();
    assertThatIllegalStateException().isThrownBy(() -> broken.open(0));
    assertThat(threads.created()).as("a stop needs no thread").isOne();
  }

  /** A thread factory whose first threads cannot be started, as when the process has too many. */
  private static final class UnreliableThreads implements ThreadFactory {

    private final int failures;
    private final AtomicInteger created = new AtomicInteger();

    UnreliableThreads(int failures) {
      this.failures = failures;
    }

    int created() {
      return created.get();
    }

    @Override
    public Thread newThread(Runnable worker) {
      boolean fails = created.incrementAndGet() <= failures;
      Thread thread =
          new Thread(worker, "unreliable") {
            @Override
            public synchronized void start() {
              if (fails) {
                throw new OutOfMemoryError("unable to create native thread");
              }
              super.start();
            }
          };
      thread.setDaemon(true);
      return thread;
    }
  }

  @Test
  void deliversTimersMissedDuringAStallInOrderAndCountsThemAsLate() throws InterruptedException {
    timers.open(0);
    long[] ids = new long[1000];
    long[] deadlines = new long[1000];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = i;
      deadlines[i] = NOW + 10 + (i * 7919L) % 1000 * 10;
    }
    timers.schedule(0, ids, deadlines, ids.length);
    timers.schedule(0, 5000, NOW + 20_000);
    parkStrategy.awaitIdle(timers);
    setClock(NOW + 10_010);

    List<Long> due = new ArrayList<>();
    while (due.size() < 1000) {
      DueBatch batch = batches.take();
      for (int i = 0; i < batch.size(); i++) {
        due.add(batch.deadlineMillis(i));
      }
      batch.done();
    }
    parkStrategy.awaitIdle(timers);
    assertThat(due).isSorted();
    // The timers of the last second are not late yet.
    assertThat(timers.late()).isEqualTo(901);

    setClock(NOW + 20_000);
    assertThat(batches.remove().id(0)).isEqualTo(5000);
    assertThat(timers.late()).isEqualTo(901);
    timers.drop(0);
    parkStrategy.awaitIdle(timers);
    assertThat(timers.late()).as("late timers of a dropped shard stay counted").isEqualTo(901);
  }

  @Test
  void forecastsOverAllShards() throws InterruptedException {
    for (int shard = 0; shard < 3; shard++) {
      timers.open(shard);
      for (int minute = 1; minute <= 60; minute++) {
        timers.schedule(shard, minute, NOW + minute * 60_000L);
      }
    }

    assertThat(
            timers.forecast(NOW, NOW + 60_000, NOW + 300_000, NOW + 15 * 60_000, NOW + HOUR).join())
        .containsExactly(0, 3, 15, 45, 180);
    parkStrategy.awaitIdle(timers);
    assertThat(timers.pending()).isEqualTo(180);
  }

  @Test
  void distantTimerCausesNoWakeUpBeforeItIsDue() throws InterruptedException {
    long tenYears = 10 * 365 * 24 * HOUR;
    timers.open(0);
    timers.schedule(0, 1, NOW + tenYears);
    parkStrategy.awaitIdle(timers);

    assertThat(parkStrategy.lastNanos()).isGreaterThanOrEqualTo(tenYears * 1_000_000 - 10_000_000);
    setClock(NOW + tenYears - 1);
    assertThat(batches).isEmpty();
    setClock(NOW + tenYears + 10);
    assertThat(batches).hasSize(1);
  }

  @Test
  void clockJumpOfAnHourNeitherExpiresEarlyNorStalls() throws InterruptedException {
    timers.open(0);
    timers.schedule(0, 1, NOW + HOUR + 500);
    setClock(NOW + HOUR);
    assertThat(batches).isEmpty();

    setClock(NOW);
    timers.schedule(0, 2, NOW + 100);
    timers.schedule(0, 3, NOW + 50_000);
    parkStrategy.awaitIdle(timers);
    assertThat(parkStrategy.lastNanos()).isLessThanOrEqualTo(100_000_000);
    setClock(NOW + 99);
    assertThat(batches).isEmpty();
    setClock(NOW + 100);
    DueBatch batch = batches.remove();
    assertThat(batch.ids()).containsExactly(2);
    batch.done();
    setClock(NOW + 49_999);
    assertThat(batches).isEmpty();
    setClock(NOW + 50_000);
    batch = batches.remove();
    assertThat(batch.ids()).containsExactly(3);
    batch.done();
    setClock(NOW + HOUR + 500);
    assertThat(batches.remove().ids()).containsExactly(1);
  }

  @Test
  void steadyClockStartsAtTheSystemTimeAndAdvances() {
    long before = System.currentTimeMillis();
    TimerClock steady = TimerClock.steady();
    long first = steady.nowMillis();

    assertThat(first).isBetween(before, System.currentTimeMillis());
    while (steady.nowMillis() == first) {
      Thread.onSpinWait();
    }
    assertThat(steady.nowMillis()).isGreaterThan(first);
  }
}
