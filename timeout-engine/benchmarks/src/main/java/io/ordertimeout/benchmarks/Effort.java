package io.ordertimeout.benchmarks;

/**
 * How long to measure.
 *
 * @param iterations how often a measurement is repeated, for its error
 * @param iterationMillis how long each takes
 */
record Effort(int iterations, long iterationMillis) {

  static final Effort DEFAULT = new Effort(5, 1000);
  static final Effort QUICK = new Effort(3, 200);
}
