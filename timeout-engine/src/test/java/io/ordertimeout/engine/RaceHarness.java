package io.ordertimeout.engine;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/**
 * Races two threads over rows of fresh objects. Each thread applies its own operation to one object
 * after the other, so that now and then both operate on the same object at the same instant.
 * Synchronizing before each object would keep the threads further apart.
 *
 * <p>The number of rows is fixed, so a busy machine makes a race slower but cannot make it fail.
 * More rows: {@code -Drace.rows=100000}.
 */
final class RaceHarness {

  /** The number of objects in a row. */
  static final int ROW_SIZE = 4096;

  private static final int ROWS = Integer.getInteger("race.rows", 3000);
  private static final int SPINS_BEFORE_YIELD = 1000;

  /** The operations on the i-th object of a row, and the check of their outcome. */
  interface Row {

    void left(int i);

    void right(int i);

    void check(int i);
  }

  private RaceHarness() {}

  static void run(Supplier<Row> newRow) throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      for (int i = 0; i < ROWS; i++) {
        race(newRow.get(), other);
      }
    } finally {
      other.shutdownNow();
    }
  }

  private static void race(Row row, ExecutorService other) throws Exception {
    AtomicInteger absent = new AtomicInteger(2);
    Future<?> right = other.submit(() -> runThrough(absent, row::right));
    runThrough(absent, row::left);
    right.get();
    for (int i = 0; i < ROW_SIZE; i++) {
      row.check(i);
    }
  }

  private static void runThrough(AtomicInteger absent, IntConsumer operation) {
    absent.decrementAndGet();
    for (int spins = 0; absent.get() > 0; spins++) {
      if (spins < SPINS_BEFORE_YIELD) {
        Thread.onSpinWait();
      } else {
        yieldProcessor();
      }
    }
    for (int i = 0; i < ROW_SIZE; i++) {
      operation.accept(i);
    }
  }

  /** Lets other threads run on a busy machine. Only the speed of a test depends on it. */
  @SuppressWarnings("ThreadPriorityCheck")
  static void yieldProcessor() {
    Thread.yield();
  }
}
