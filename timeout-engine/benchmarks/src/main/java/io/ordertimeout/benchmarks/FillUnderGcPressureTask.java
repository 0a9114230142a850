package io.ordertimeout.benchmarks;

import java.util.List;

/**
 * Fills the timers in a small heap while another thread allocates, like the rest of a service does.
 */
final class FillUnderGcPressureTask implements BenchmarkTask {

  private static final long SEED = 42;

  @Override
  public List<Figure> run(Implementation implementation, int size, Effort effort) {
    PendingOrders book = new PendingOrders(size, implementation.batchSize(), SEED);
    StallMeter stalls = new StallMeter();
    try (TimerAdapter timers =
            implementation.start(size, Implementation.DEFAULT_TICK_MILLIS, id -> {});
        GarbageGenerator garbage = new GarbageGenerator()) {
      book.fill(timers, stalls);
      return List.of(
          Figure.of("fill-stall-ms", stalls.worstMillis()),
          Figure.of("fill-stall-without-gc-ms", stalls.worstMillisWithoutGc()),
          Figure.of("garbage-mb-per-s", garbage.megabytesPerSecond()));
    }
  }
}
