package io.ordertimeout.benchmarks;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Measures how long callers wait while up to a million timers fall due at once. Turns of {@code
 * advance} alternate with scheduling one order and cancelling another, which wait for the turn
 * before them.
 */
final class BurstTask implements BenchmarkTask {

  private static final int MAX_DUE = 1_000_000;
  private static final int WARM_UP = 20_000;
  private static final long DUE_MILLIS = 100_000;

  @Override
  public List<Figure> run(Implementation implementation, int size, Effort effort) {
    for (int i = 0; i < 10; i++) {
      burst(implementation, WARM_UP);
    }
    LatencyHistogram waits = burst(implementation, size);
    return List.of(
        Figure.of("wait-p50-us", waits.micros(0.5)),
        Figure.of("wait-p99-us", waits.micros(0.99)),
        Figure.of("wait-max-us", waits.maxMicros()));
  }

  private static LatencyHistogram burst(Implementation implementation, int size) {
    LatencyHistogram waits = new LatencyHistogram();
    PendingOrders book = new PendingOrders(size, 1, 1);
    try (TimerAdapter timers =
        implementation.start(size, Implementation.DEFAULT_TICK_MILLIS, id -> {})) {
      book.fill(timers, new StallMeter());
      scheduleDue(timers, Math.min(size, MAX_DUE));
      SimulatedTime.advance(timers, DUE_MILLIS - 1);
      boolean more = true;
      while (more) {
        long start = System.nanoTime();
        more = timers.advance(DUE_MILLIS, SimulatedTime.LIMIT);
        book.replace(timers);
        waits.record(System.nanoTime() - start);
      }
    }
    return waits;
  }

  private static void scheduleDue(TimerAdapter timers, int count) {
    SplittableRandom random = new SplittableRandom(3);
    OrderBatch one = new OrderBatch(1);
    for (int i = 0; i < count; i++) {
      one.clear();
      one.add(0, random.nextLong(), DUE_MILLIS);
      timers.schedule(one);
    }
  }
}
