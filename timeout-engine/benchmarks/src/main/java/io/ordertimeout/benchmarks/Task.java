package io.ordertimeout.benchmarks;

import java.util.List;

/** One measurement, alone in its process. */
interface Task {

  /**
   * Measures.
   *
   * @param kind whom
   * @param size the pending timers
   * @param effort how long
   */
  List<Figure> run(ContestantKind kind, int size, Effort effort);
}
