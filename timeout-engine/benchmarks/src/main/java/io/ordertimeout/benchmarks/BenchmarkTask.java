package io.ordertimeout.benchmarks;

import java.util.List;

/** A measurement that runs alone in its process. */
interface BenchmarkTask {

  /**
   * Measures one implementation.
   *
   * @param implementation the implementation
   * @param size the number of pending timers
   * @param effort the duration of the measurement
   */
  List<Figure> run(Implementation implementation, int size, Effort effort);
}
