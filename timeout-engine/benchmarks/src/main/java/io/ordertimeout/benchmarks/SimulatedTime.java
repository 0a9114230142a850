package io.ordertimeout.benchmarks;

/** Moves the time of a contestant. */
final class SimulatedTime {

  /** How much a contestant does in one turn, so that callers can come in between. */
  static final int LIMIT = 1000;

  private SimulatedTime() {}

  static void advance(Contestant contestant, long nowMillis) {
    while (contestant.advance(nowMillis, LIMIT)) {
      // There is more.
    }
  }

  /** Records how long each turn took. */
  static void advance(Contestant contestant, long nowMillis, Latencies turns) {
    boolean more = true;
    while (more) {
      long start = System.nanoTime();
      more = contestant.advance(nowMillis, LIMIT);
      turns.record(System.nanoTime() - start);
    }
  }
}
