package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;

/** A front with a clock set by hand, and what it has handed out. */
abstract class RunningFront {

  static final long NOW = 1_700_000_000_000L;
  static final int BATCH = 3;

  final ManualClock clock = new ManualClock(NOW);
  final ObservedParking parking = new ObservedParking();
  final BlockingQueue<DueBatch> batches = new LinkedBlockingQueue<>();
  final CapturedLog log = new CapturedLog();

  /** What the listener does before it queues the batch. */
  volatile DueListener first = batch -> {};

  final ShardedTimers timers = timers(16);

  ShardedTimers timers(int queueCapacity) {
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

  void settle() throws InterruptedException {
    parking.settle(timers);
  }

  void moveTo(long nowMillis) throws InterruptedException {
    clock.set(nowMillis);
    settle();
  }

  DueBatch onlyBatch() {
    assertThat(batches).hasSize(1);
    return batches.remove();
  }

  static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  static void awaitWaiting(Thread thread) {
    while (thread.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
  }
}
