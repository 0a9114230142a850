package io.ordertimeout.engine;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/**
 * Two threads that meet on the same objects, very often: each runs down a row of fresh objects with
 * its own operation, so that now and then both are at the same one to the nanosecond. Waiting for
 * each other at each object would keep them further apart.
 */
final class Race {

  /** Objects in a row. */
  static final int ROW = 4096;

  /** What the threads do to the i-th object of a row, and what has to hold afterwards. */
  interface Row {

    void left(int i);

    void right(int i);

    void check(int i);
  }

  private Race() {}

  static void run(Duration time, Supplier<Row> fresh) throws Exception {
    long end = System.nanoTime() + time.toNanos();
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      do {
        Row row = fresh.get();
        AtomicInteger absent = new AtomicInteger(2);
        Future<?> right = other.submit(() -> runDown(absent, row::right));
        runDown(absent, row::left);
        right.get(30, TimeUnit.SECONDS);
        for (int i = 0; i < ROW; i++) {
          row.check(i);
        }
      } while (System.nanoTime() - end < 0);
    } finally {
      other.shutdownNow();
    }
  }

  private static void runDown(AtomicInteger absent, IntConsumer operation) {
    absent.decrementAndGet();
    while (absent.get() > 0) {
      Thread.onSpinWait();
    }
    for (int i = 0; i < ROW; i++) {
      operation.accept(i);
    }
  }
}
