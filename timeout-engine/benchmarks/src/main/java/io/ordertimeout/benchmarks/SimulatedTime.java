package io.ordertimeout.benchmarks;

/** Advances the simulated time of an implementation. */
final class SimulatedTime {

  /** The work per turn, limited so that callers can get in between. */
  static final int LIMIT = 1000;

  private SimulatedTime() {}

  static void advance(TimerAdapter timers, long nowMillis) {
    while (timers.advance(nowMillis, LIMIT)) {
      // More work remains.
    }
  }

  /** Records the duration of each turn. */
  static void advance(TimerAdapter timers, long nowMillis, LatencyHistogram turns) {
    boolean more = true;
    while (more) {
      long start = System.nanoTime();
      more = timers.advance(nowMillis, LIMIT);
      turns.record(System.nanoTime() - start);
    }
  }
}
