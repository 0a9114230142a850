package io.ordertimeout.benchmarks;

import java.util.List;

/** One measurement, alone in its process. */
interface BenchmarkTask {

  /**
   * Measures.
   *
   * @param implementation whom
   * @param size the pending timers
   * @param effort how long
   */
  List<Figure> run(Implementation implementation, int size, Effort effort);
}
