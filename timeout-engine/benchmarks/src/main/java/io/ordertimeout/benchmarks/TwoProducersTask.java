package io.ordertimeout.benchmarks;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures the throughput of two producers that together run the steady mix. The measurement ends
 * when every request has been processed, not when the last one has been made.
 */
final class TwoProducersTask implements BenchmarkTask {

  private static final int PRODUCERS = 2;

  @Override
  public List<Figure> run(Implementation implementation, int size, Effort effort) {
    try (TimerAdapter timers =
        implementation.start(size, Implementation.DEFAULT_TICK_MILLIS, id -> {})) {
      PendingOrders[] books = new PendingOrders[PRODUCERS];
      for (int i = 0; i < PRODUCERS; i++) {
        books[i] = new PendingOrders(size / PRODUCERS, implementation.batchSize(), i);
        books[i].fill(timers, new StallMeter());
      }
      timers.settle();
      produce(timers, books, effort.iterationMillis());

      long start = System.nanoTime();
      long cpu = ProcessCpu.nanos();
      long operations = produce(timers, books, 2L * effort.iterations() * effort.iterationMillis());
      double nanos = System.nanoTime() - start;
      cpu = ProcessCpu.nanos() - cpu;
      return List.of(
          Figure.of("operations-per-s", operations * 1e9 / nanos),
          Figure.of("operation-cpu-ns", (double) cpu / operations));
    }
  }

  private static long produce(TimerAdapter timers, PendingOrders[] books, long millis) {
    long end = System.nanoTime() + millis * 1_000_000;
    AtomicLong operations = new AtomicLong();
    Thread[] producers = new Thread[books.length];
    for (int i = 0; i < books.length; i++) {
      PendingOrders book = books[i];
      producers[i] =
          DaemonThreads.start(
              "producer-" + i, () -> operations.addAndGet(produceUntil(end, book, timers)));
    }
    for (Thread producer : producers) {
      Waiting.on(producer);
    }
    timers.settle();
    return operations.get();
  }

  private static long produceUntil(long end, PendingOrders book, TimerAdapter timers) {
    long operations = 0;
    while (System.nanoTime() < end) {
      for (int pairs = 0; pairs < 512; ) {
        int done = book.replace(timers);
        pairs += done;
        operations += 2L * done;
      }
    }
    return operations;
  }
}
