package io.ordertimeout.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A running {@link ShardedTimers} with one armed timer, id 1, that is due when the clock reaches
 * 10.
 */
final class RaceFixture {

  static final int SHARD = 0;
  static final long ID = 1;
  static final long DEADLINE_MILLIS = 10;

  private final AtomicInteger delivered = new AtomicInteger();
  private volatile long nowMillis;

  final ShardedTimers timers =
      new ShardedTimers(
          TimersConfig.builder("raced")
              .tick(Duration.ofMillis(1))
              .batchSize(8)
              .queueCapacity(8)
              .retryDelay(Duration.ofMillis(1))
              .build(),
          () -> nowMillis,
          batch -> {
            delivered.addAndGet(batch.size());
            batch.done();
          });

  RaceFixture() {
    timers.open(SHARD);
    timers.schedule(SHARD, ID, DEADLINE_MILLIS);
  }

  /** Makes the timer due. */
  void reachDeadline() {
    nowMillis = DEADLINE_MILLIS;
    timers.clockChanged();
  }

  /** Stops the timers and returns how many are still armed, or -1 if the stop does not complete. */
  int stop() {
    return CompletableFuture.supplyAsync(timers::stop)
        .thenApply(armed -> armed.stream().mapToInt(ArmedTimers::size).sum())
        .completeOnTimeout(-1, 20, TimeUnit.SECONDS)
        .join();
  }

  int delivered() {
    return delivered.get();
  }
}
