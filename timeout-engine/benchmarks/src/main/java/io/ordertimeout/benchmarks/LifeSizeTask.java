package io.ordertimeout.benchmarks;

import java.util.ArrayList;
import java.util.List;

/**
 * Fills, holds the steady mix, churns until each order has been replaced once on average, and
 * drains: by letting everything expire where time is simulated, by cancelling elsewhere. Heap is
 * measured in between.
 */
final class LifeSizeTask implements Task {

  private static final long SEED = 42;
  private static final int WARM_UP_ORDERS = 10_000;
  private static final int WARM_UP_PAIRS = 200_000;
  private static final long LEAST_EXPIRED = 1_000_000;

  @Override
  public List<Figure> run(ContestantKind kind, int size, Effort effort) {
    warmUp(kind);
    List<Figure> figures = new ArrayList<>();
    OrderBook book = new OrderBook(size, kind.batchSize(), SEED);
    long before = HeapUse.bytes();
    try (Contestant contestant = start(kind, size)) {
      StallMeter stalls = new StallMeter();
      book.fill(contestant, stalls);
      contestant.settle();
      figures.add(Figure.of("fill-stall-ms", stalls.worstMillis()));
      figures.add(Figure.of("fill-stall-without-gc-ms", stalls.worstMillisWithoutGc()));
      figures.add(Figure.of("bytes-filled", perOrder(before, size)));

      SteadyMix mix = new SteadyMix(book, contestant);
      mix.warmUp(effort);
      figures.add(Figure.of("steady-ns", mix.measure(effort)));
      mix.churn(size);
      contestant.settle();
      figures.add(Figure.of("bytes-churned", perOrder(before, size)));

      drain(kind, book, contestant);
      figures.add(Figure.of("bytes-drained", perOrder(before, size)));
    }
    if (kind.simulated() && kind != kind.baseline()) {
      figures.add(Figure.of("expiry-ns", expiry(kind, book)));
    }
    return figures;
  }

  /** The CPU time of handing out one timer; as often as it takes to hand out a million. */
  private static double expiry(ContestantKind kind, OrderBook book) {
    long expired = 0;
    long cpu = 0;
    while (expired < LEAST_EXPIRED) {
      try (Contestant contestant = start(kind, book.size())) {
        book.fill(contestant, new StallMeter());
        new SteadyMix(book, contestant).churn(book.size());
        expired += contestant.pending();
        long before = ProcessCpu.nanos();
        drain(kind, book, contestant);
        cpu += ProcessCpu.nanos() - before;
      }
    }
    return (double) cpu / expired;
  }

  private static Contestant start(ContestantKind kind, int size) {
    return kind.start(size, ContestantKind.DEFAULT_TICK_MILLIS, id -> {});
  }

  private static void warmUp(ContestantKind kind) {
    OrderBook book = new OrderBook(WARM_UP_ORDERS, kind.batchSize(), SEED);
    try (Contestant contestant = start(kind, WARM_UP_ORDERS)) {
      book.fill(contestant, new StallMeter());
      new SteadyMix(book, contestant).churn(WARM_UP_PAIRS);
      drain(kind, book, contestant);
    }
  }

  private static void drain(ContestantKind kind, OrderBook book, Contestant contestant) {
    if (kind.simulated()) {
      SimulatedTime.advance(
          contestant, OrderBook.FIRST_DEADLINE_MILLIS + OrderBook.DEADLINES_MILLIS + 1000);
    } else {
      book.cancelAll(contestant);
      contestant.settle();
    }
  }

  private static double perOrder(long before, int size) {
    return (double) (HeapUse.bytes() - before) / size;
  }
}
