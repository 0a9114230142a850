package io.ordertimeout.benchmarks;

import java.util.ArrayList;
import java.util.List;

/**
 * Fills, runs the steady mix, churns until each order has been replaced once on average, and
 * drains. Draining expires all timers where time is simulated and cancels them elsewhere. The heap
 * is measured after each phase.
 */
final class SteadyStateTask implements BenchmarkTask {

  private static final long SEED = 42;
  private static final int WARM_UP_ORDERS = 10_000;
  private static final int WARM_UP_PAIRS = 200_000;
  private static final long MIN_EXPIRED = 1_000_000;

  @Override
  public List<Figure> run(Implementation implementation, int size, Effort effort) {
    warmUp(implementation);
    List<Figure> figures = new ArrayList<>();
    PendingOrders book = new PendingOrders(size, implementation.batchSize(), SEED);
    long before = HeapUsage.bytes();
    try (TimerAdapter timers = start(implementation, size)) {
      StallMeter stalls = new StallMeter();
      book.fill(timers, stalls);
      timers.settle();
      figures.add(Figure.of("fill-stall-ms", stalls.worstMillis()));
      figures.add(Figure.of("fill-stall-without-gc-ms", stalls.worstMillisWithoutGc()));
      figures.add(Figure.of("bytes-filled", perOrder(before, size)));

      SteadyMix mix = new SteadyMix(book, timers);
      mix.warmUp(effort);
      figures.add(Figure.of("steady-ns", mix.measure(effort)));
      mix.churn(size);
      timers.settle();
      figures.add(Figure.of("bytes-churned", perOrder(before, size)));

      drain(implementation, book, timers);
      figures.add(Figure.of("bytes-drained", perOrder(before, size)));
    }
    if (implementation.simulated() && implementation != implementation.baseline()) {
      figures.add(Figure.of("expiry-ns", expiry(implementation, book)));
    }
    return figures;
  }

  /** Returns the CPU time per expired timer, repeating until a million timers have expired. */
  private static double expiry(Implementation implementation, PendingOrders book) {
    long expired = 0;
    long cpu = 0;
    while (expired < MIN_EXPIRED) {
      try (TimerAdapter timers = start(implementation, book.size())) {
        book.fill(timers, new StallMeter());
        new SteadyMix(book, timers).churn(book.size());
        expired += timers.pending();
        long before = ProcessCpu.nanos();
        drain(implementation, book, timers);
        cpu += ProcessCpu.nanos() - before;
      }
    }
    return (double) cpu / expired;
  }

  private static TimerAdapter start(Implementation implementation, int size) {
    return implementation.start(size, Implementation.DEFAULT_TICK_MILLIS, id -> {});
  }

  private static void warmUp(Implementation implementation) {
    PendingOrders book = new PendingOrders(WARM_UP_ORDERS, implementation.batchSize(), SEED);
    try (TimerAdapter timers = start(implementation, WARM_UP_ORDERS)) {
      book.fill(timers, new StallMeter());
      new SteadyMix(book, timers).churn(WARM_UP_PAIRS);
      drain(implementation, book, timers);
    }
  }

  private static void drain(
      Implementation implementation, PendingOrders book, TimerAdapter timers) {
    if (implementation.simulated()) {
      SimulatedTime.advance(
          timers, PendingOrders.FIRST_DEADLINE_MILLIS + PendingOrders.DEADLINES_MILLIS + 1000);
    } else {
      book.cancelAll(timers);
      timers.settle();
    }
  }

  private static double perOrder(long before, int size) {
    return (double) (HeapUsage.bytes() - before) / size;
  }
}
