package io.ordertimeout.benchmarks;

import java.util.List;

/** Fills in a small heap while another thread makes garbage, as the rest of a service does. */
final class FillBesideGarbageTask implements Task {

  private static final long SEED = 42;

  @Override
  public List<Figure> run(ContestantKind kind, int size, Effort effort) {
    OrderBook book = new OrderBook(size, kind.batchSize(), SEED);
    StallMeter stalls = new StallMeter();
    try (Contestant contestant = kind.start(size, ContestantKind.DEFAULT_TICK_MILLIS, id -> {});
        GarbageMaker garbage = new GarbageMaker()) {
      book.fill(contestant, stalls);
      return List.of(
          Figure.of("fill-stall-ms", stalls.worstMillis()),
          Figure.of("fill-stall-without-gc-ms", stalls.worstMillisWithoutGc()),
          Figure.of("garbage-mb-per-s", garbage.megabytesPerSecond()));
    }
  }
}
