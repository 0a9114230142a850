package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;

/** Base of tests that run {@link ShardedTimers} on a manual clock and record delivered batches. */
abstract class ShardedTimersTestBase {

  static final long NOW = 1_700_000_000_000L;
  static final int BATCH = 3;

  final ManualClock clock = new ManualClock(NOW);
  final RecordingParkStrategy parkStrategy = new RecordingParkStrategy();
  final BlockingQueue<DueBatch> batches = new LinkedBlockingQueue<>();
  final CapturedLog log = new CapturedLog();

  /** Called by the listener before it queues the batch. */
  volatile DueListener beforeQueueing = batch -> {};

  final ShardedTimers timers = timers(TimersConfig.builder("wheel").queueCapacity(16));

  ShardedTimers timers(TimersConfig.Builder config) {
    return new ShardedTimers(
        config.tick(Duration.ofMillis(1)).batchSize(BATCH).build(),
        clock,
        batch -> {
          beforeQueueing.onDue(batch);
          batches.add(batch);
        },
        parkStrategy);
  }

  @AfterEach
  void close() {
    timers.close();
    log.close();
  }

  void awaitIdle() throws InterruptedException {
    parkStrategy.awaitIdle(timers);
  }

  void setClock(long nowMillis) throws InterruptedException {
    clock.set(nowMillis);
    awaitIdle();
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
      RaceHarness.yieldProcessor();
    }
  }
}
