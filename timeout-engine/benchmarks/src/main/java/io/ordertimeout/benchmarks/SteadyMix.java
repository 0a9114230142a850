package io.ordertimeout.benchmarks;

import java.util.concurrent.TimeUnit;

/** Replaces one order after the other, as many pending as ever. */
final class SteadyMix {

  /** So often threads of the timers's own get the time to keep up, which costs them CPU only. */
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

  /** The CPU time of a pair in ns, repeatedly. */
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

  /** Goes on until so many pairs have been replaced in all. */
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
