package io.ordertimeout.benchmarks;

/**
 * The duration of a measurement.
 *
 * @param iterations the number of repetitions, from which the error is computed
 * @param iterationMillis the duration of each
 */
record Effort(int iterations, long iterationMillis) {

  static final Effort DEFAULT = new Effort(5, 1000);
  static final Effort QUICK = new Effort(3, 200);
}
