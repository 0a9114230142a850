package io.ordertimeout.benchmarks;

import java.util.concurrent.TimeUnit;

/** Replaces orders one after the other while the number of pending orders stays constant. */
final class SteadyMix {

  /**
   * The number of pairs after which the implementation's own threads get time to keep up. Waiting
   * for them costs only CPU time.
   */
  private static final int PAIRS_BETWEEN_SETTLING = 1 << 16;

  private final PendingOrders book;
  private final TimerAdapter timers;
  private long pairs;

  SteadyMix(PendingOrders book, TimerAdapter timers) {
    this.book = book;
    this.timers = timers;
  }

  void warmUp(Effort effort) {
    runFor(effort.iterationMillis());
  }

  /** Measures the CPU time of a pair in ns. */
  Sample measure(Effort effort) {
    Sample sample = new Sample();
    for (int i = 0; i < effort.iterations(); i++) {
      long before = pairs;
      long cpu = ProcessCpu.nanos();
      runFor(effort.iterationMillis());
      sample.add((double) (ProcessCpu.nanos() - cpu) / (pairs - before));
    }
    return sample;
  }

  /** Continues until this number of pairs has been replaced in total. */
  void churn(long total) {
    while (pairs < total) {
      someThenSettle();
    }
  }

  private void runFor(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    do {
      someThenSettle();
    } while (System.nanoTime() < end);
  }

  private void someThenSettle() {
    for (int done = 0; done < PAIRS_BETWEEN_SETTLING; ) {
      done += book.replace(timers);
    }
    pairs += PAIRS_BETWEEN_SETTLING;
    timers.settle();
  }
}
