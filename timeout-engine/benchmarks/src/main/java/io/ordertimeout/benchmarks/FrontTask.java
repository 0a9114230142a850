package io.ordertimeout.benchmarks;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Two producers hold the steady mix together. The clock stops when everything that they asked for
 * has been done, not when they have asked.
 */
final class FrontTask implements Task {

  private static final int PRODUCERS = 2;

  @Override
  public List<Figure> run(ContestantKind kind, int size, Effort effort) {
    try (Contestant contestant = kind.start(size, ContestantKind.DEFAULT_TICK_MILLIS, id -> {})) {
      OrderBook[] books = new OrderBook[PRODUCERS];
      for (int i = 0; i < PRODUCERS; i++) {
        books[i] = new OrderBook(size / PRODUCERS, kind.batchSize(), i);
        books[i].fill(contestant, new StallMeter());
      }
      contestant.settle();
      produce(contestant, books, effort.iterationMillis());

      long start = System.nanoTime();
      long cpu = ProcessCpu.nanos();
      long operations =
          produce(contestant, books, 2L * effort.iterations() * effort.iterationMillis());
      double nanos = System.nanoTime() - start;
      cpu = ProcessCpu.nanos() - cpu;
      return List.of(
          Figure.of("operations-per-s", operations * 1e9 / nanos),
          Figure.of("operation-cpu-ns", (double) cpu / operations));
    }
  }

  private static long produce(Contestant contestant, OrderBook[] books, long millis) {
    long end = System.nanoTime() + millis * 1_000_000;
    AtomicLong operations = new AtomicLong();
    Thread[] producers = new Thread[books.length];
    for (int i = 0; i < books.length; i++) {
      OrderBook book = books[i];
      producers[i] =
          Daemons.start(
              "producer-" + i, () -> operations.addAndGet(produceUntil(end, book, contestant)));
    }
    for (Thread producer : producers) {
      Waiting.on(producer);
    }
    contestant.settle();
    return operations.get();
  }

  private static long produceUntil(long end, OrderBook book, Contestant contestant) {
    long operations = 0;
    while (System.nanoTime() < end) {
      for (int pairs = 0; pairs < 512; ) {
        int done = book.replace(contestant);
        pairs += done;
        operations += 2L * done;
      }
    }
    return operations;
  }
}
