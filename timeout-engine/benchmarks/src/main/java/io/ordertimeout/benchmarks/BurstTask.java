package io.ordertimeout.benchmarks;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Up to a million timers fall due at once. Turns of handing out alternate with one order to
 * schedule and one to cancel: how long do these wait for the turn before them?
 */
final class BurstTask implements Task {

  private static final int MOST_DUE = 1_000_000;
  private static final int WARM_UP = 20_000;
  private static final long DUE_MILLIS = 100_000;

  @Override
  public List<Figure> run(ContestantKind kind, int size, Effort effort) {
    for (int i = 0; i < 10; i++) {
      burst(kind, WARM_UP);
    }
    Latencies waits = burst(kind, size);
    return List.of(
        Figure.of("wait-p50-us", waits.micros(0.5)),
        Figure.of("wait-p99-us", waits.micros(0.99)),
        Figure.of("wait-max-us", waits.maxMicros()));
  }

  private static Latencies burst(ContestantKind kind, int size) {
    Latencies waits = new Latencies();
    OrderBook book = new OrderBook(size, 1, 1);
    try (Contestant contestant = kind.start(size, ContestantKind.DEFAULT_TICK_MILLIS, id -> {})) {
      book.fill(contestant, new StallMeter());
      scheduleDue(contestant, Math.min(size, MOST_DUE));
      SimulatedTime.advance(contestant, DUE_MILLIS - 1);
      boolean more = true;
      while (more) {
        long start = System.nanoTime();
        more = contestant.advance(DUE_MILLIS, SimulatedTime.LIMIT);
        book.replace(contestant);
        waits.record(System.nanoTime() - start);
      }
    }
    return waits;
  }

  private static void scheduleDue(Contestant contestant, int count) {
    SplittableRandom random = new SplittableRandom(3);
    OrderBatch one = new OrderBatch(1);
    for (int i = 0; i < count; i++) {
      one.clear();
      one.add(0, random.nextLong(), DUE_MILLIS);
      contestant.schedule(one);
    }
  }
}
