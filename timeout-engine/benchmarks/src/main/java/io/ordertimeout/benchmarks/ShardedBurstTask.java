package io.ordertimeout.benchmarks;

import io.ordertimeout.engine.ShardedTimers;
import io.ordertimeout.engine.TimersConfig;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures {@code ShardedTimers} while up to a million timers fall due at once. One thread keeps
 * scheduling and cancelling; the figures are the duration of its calls and the time until they have
 * taken effect.
 */
final class ShardedBurstTask implements BenchmarkTask {

  private static final int MAX_DUE = 1_000_000;
  private static final int WARM_UP = 20_000;
  private static final int BATCH = 1024;
  private static final int ORDERS = 0;

  /** A shard whose timers show that all earlier commands have been applied. */
  private static final int MARKERS = 1;

  private static final long FAR_MILLIS = 1L << 40;
  private static final long SOON_MILLIS = 5;

  /** The deadline of the timers. The clock reaches it only after they are armed. */
  private static final long DUE_MILLIS = 1_000_000;

  private final LatencyHistogram calls = new LatencyHistogram();
  private final LatencyHistogram effects = new LatencyHistogram();
  private double burstMillis;

  @Override
  public List<Figure> run(Implementation implementation, int size, Effort effort) {
    for (int i = 0; i < 10; i++) {
      new ShardedBurstTask().burst(WARM_UP, WARM_UP);
    }
    burst(size, Math.min(size, MAX_DUE));
    return List.of(
        Figure.of("call-p99-us", calls.micros(0.99)),
        Figure.of("call-max-us", calls.maxMicros()),
        Figure.of("effect-p99-us", effects.micros(0.99)),
        Figure.of("effect-max-us", effects.maxMicros()),
        Figure.of("burst-ms", burstMillis));
  }

  private void burst(int pending, int due) {
    AtomicLong startNanos = new AtomicLong(Long.MAX_VALUE);
    AtomicLong delivered = new AtomicLong();
    try (ShardedTimers timers =
        new ShardedTimers(
            TimersConfig.defaults("burst"),
            () -> nowMillis(startNanos.get()),
            batch -> {
              delivered.addAndGet(batch.size());
              batch.done();
            })) {
      timers.open(ORDERS);
      timers.open(MARKERS);
      SplittableRandom random = new SplittableRandom(5);
      scheduleAll(timers, random, pending, FAR_MILLIS);
      scheduleAll(timers, random, due, DUE_MILLIS);
      Waiting.until(() -> timers.pending(ORDERS) == (long) pending + due);

      // Measures from slightly before, to include the time before the first batch.
      long dueNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SOON_MILLIS);
      startNanos.set(dueNanos);
      timers.clockChanged();
      for (long markers = 1; delivered.get() < due; markers++) {
        long id = random.nextLong();
        long called = System.nanoTime();
        timers.schedule(ORDERS, id, FAR_MILLIS);
        timers.cancel(ORDERS, id);
        timers.schedule(MARKERS, markers, FAR_MILLIS);
        calls.record(System.nanoTime() - called);
        while (timers.pending(MARKERS) < markers) {
          Thread.onSpinWait();
        }
        effects.record(System.nanoTime() - called);
      }
      burstMillis = (System.nanoTime() - dueNanos) / 1e6;
    }
  }

  /** Stands still long before the deadline until the start of the burst is known. */
  private static long nowMillis(long dueNanos) {
    return dueNanos == Long.MAX_VALUE
        ? 0
        : DUE_MILLIS + Math.floorDiv(System.nanoTime() - dueNanos, 1_000_000);
  }

  private static void scheduleAll(
      ShardedTimers timers, SplittableRandom random, int count, long deadlineMillis) {
    long[] ids = new long[BATCH];
    long[] deadlinesMillis = new long[BATCH];
    Arrays.fill(deadlinesMillis, deadlineMillis);
    for (int done = 0; done < count; done += BATCH) {
      for (int i = 0; i < BATCH; i++) {
        ids[i] = random.nextLong();
      }
      timers.schedule(ORDERS, ids, deadlinesMillis, Math.min(BATCH, count - done));
    }
  }
}
