package io.ordertimeout.benchmarks;

/** Moves the time of a timers. */
final class SimulatedTime {

  /** How much a timers does in one turn, so that callers can come in between. */
  static final int LIMIT = 1000;

  private SimulatedTime() {}

  static void advance(TimerAdapter timers, long nowMillis) {
    while (timers.advance(nowMillis, LIMIT)) {
      // There is more.
    }
  }

  /** Records how long each turn took. */
  static void advance(TimerAdapter timers, long nowMillis, LatencyHistogram turns) {
    boolean more = true;
    while (more) {
      long start = System.nanoTime();
      more = timers.advance(nowMillis, LIMIT);
      turns.record(System.nanoTime() - start);
    }
  }
}
