package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the front offers beside scheduling and handing out. */
@Timeout(60)
class FrontFeaturesTest {

  private static final long NOW = 1_700_000_000_000L;
  private static final long HOUR = 3_600_000;

  private final ManualClock clock = new ManualClock(NOW);
  private final ObservedParking parking = new ObservedParking();
  private final BlockingQueue<DueBatch> batches = new LinkedBlockingQueue<>();
  private final String name = "features-" + System.identityHashCode(this);
  private ShardedTimers timers = timers(Long.MAX_VALUE);

  private ShardedTimers timers(long maxPending) {
    return new ShardedTimers(
        TimersConfig.defaults(name).withMaxPending(maxPending), clock, batches::add, parking);
  }

  @AfterEach
  void close() {
    timers.close();
  }

  private void moveTo(long nowMillis) throws InterruptedException {
    clock.set(nowMillis);
    parking.settle(timers);
  }

  private static List<Thread> threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(name))
        .toList();
  }

  @Test
  void startsItsThreadWithTheFirstChangeOnly() throws InterruptedException {
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
  void stoppedBeforeItStartedItReturnsNothingAndStaysStopped() {
    assertThat(timers.stop()).isEmpty();

    assertThatIllegalStateException()
        .isThrownBy(() -> timers.open(0))
        .withMessageContaining("cannot be started again");
    assertThat(timers.stop()).isEmpty();
  }

  @Test
  void manyWheelsShareOneThread() throws InterruptedException {
    for (int shard = 0; shard < 20; shard++) {
      timers.open(shard);
      timers.schedule(shard, shard, NOW + shard);
    }
    moveTo(NOW + 100);

    assertThat(threads(name)).hasSize(1);
    assertThat(batches).extracting(DueBatch::shard).hasSize(20).doesNotHaveDuplicates();
  }

  @Test
  void refusesMoreThanTheMaximumAndSaysSo() throws InterruptedException {
    timers.close();
    timers = timers(3);
    timers.open(0);
    timers.schedule(0, new long[] {1, 2}, new long[] {NOW + HOUR, NOW + 1}, 2);

    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> timers.schedule(0, new long[] {3, 4}, new long[2], 2))
        .withMessageContaining("2 more")
        .withMessageContaining("limit of 3");
    timers.schedule(0, 3, NOW + HOUR);
    parking.settle(timers);
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> timers.load(0, new long[] {9}, new long[1], 1));
    assertThat(timers.pending()).isEqualTo(3);

    moveTo(NOW + 20);
    assertThat(timers.pending()).as("handed out counts until it is done").isEqualTo(3);
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> timers.schedule(0, 5, NOW + HOUR));
    batches.remove().done();
    timers.cancel(0, 1);
    parking.settle(timers);
    timers.schedule(0, new long[] {6, 7}, new long[] {NOW + HOUR, NOW + HOUR}, 2);
    parking.settle(timers);
    assertThat(timers.pending()).isEqualTo(3);
  }

  @Test
  void whatWasDueDuringAStallComesAtOnceInOrderAndCountsAsLate() throws InterruptedException {
    timers.open(0);
    long[] ids = new long[1000];
    long[] deadlines = new long[1000];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = i;
      deadlines[i] = NOW + 10 + (i * 7919L) % 1000 * 10;
    }
    timers.schedule(0, ids, deadlines, ids.length);
    timers.schedule(0, 5000, NOW + 20_000);
    parking.settle(timers);
    moveTo(NOW + 10_010);

    List<Long> due = new ArrayList<>();
    while (due.size() < 1000) {
      DueBatch batch = batches.take();
      for (int i = 0; i < batch.size(); i++) {
        due.add(batch.deadlineMillis(i));
      }
      batch.done();
    }
    parking.settle(timers);
    assertThat(due).isSorted();
    // Those of the last second were not late yet.
    assertThat(timers.late()).isEqualTo(901);

    moveTo(NOW + 20_000);
    assertThat(batches.remove().id(0)).isEqualTo(5000);
    assertThat(timers.late()).isEqualTo(901);
    timers.drop(0);
    parking.settle(timers);
    assertThat(timers.late()).as("a dropped shard's stay counted").isEqualTo(901);
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
    parking.settle(timers);
    assertThat(timers.pending()).isEqualTo(180);
  }

  @Test
  void aFarTimerCausesNoWakeUpBeforeItIsDue() throws InterruptedException {
    long tenYears = 10 * 365 * 24 * HOUR;
    timers.open(0);
    timers.schedule(0, 1, NOW + tenYears);
    parking.settle(timers);

    assertThat(parking.lastNanos()).isGreaterThanOrEqualTo(tenYears * 1_000_000 - 10_000_000);
    moveTo(NOW + tenYears - 1);
    assertThat(batches).isEmpty();
    moveTo(NOW + tenYears + 10);
    assertThat(batches).hasSize(1);
  }

  @Test
  void aWallClockThatJumpsByAnHourNeitherFiresEarlyNorStalls() throws InterruptedException {
    timers.open(0);
    timers.schedule(0, 1, NOW + HOUR + 500);
    moveTo(NOW + HOUR);
    assertThat(batches).isEmpty();

    moveTo(NOW);
    timers.schedule(0, 2, NOW + 100);
    timers.schedule(0, 3, NOW + 50_000);
    parking.settle(timers);
    assertThat(parking.lastNanos()).isLessThanOrEqualTo(100_000_000);
    moveTo(NOW + 99);
    assertThat(batches).isEmpty();
    moveTo(NOW + 100);
    DueBatch batch = batches.remove();
    assertThat(batch.ids()).containsExactly(2);
    batch.done();
    moveTo(NOW + 49_999);
    assertThat(batches).isEmpty();
    moveTo(NOW + 50_000);
    batch = batches.remove();
    assertThat(batch.ids()).containsExactly(3);
    batch.done();
    moveTo(NOW + HOUR + 500);
    assertThat(batches.remove().ids()).containsExactly(1);
  }

  @Test
  void aSteadyClockGoesOnFromTheComputersTime() {
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
