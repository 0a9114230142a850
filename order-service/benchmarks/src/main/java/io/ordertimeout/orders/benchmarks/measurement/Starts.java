package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.contender.OrderTimeout;
import io.ordertimeout.orders.benchmarks.report.Results.Section;

/** The start of the service after an orderly stop. */
final class Starts {

  private Starts() {}

  /** Starts and stops the service, which must not be running, several times. */
  static void measure(Section section, String row, OrderTimeout service, int starts) {
    for (int start = 0; start < starts; start++) {
      long begin = System.nanoTime();
      service.start();
      section.add(row, "start to ready, s", (System.nanoTime() - begin) / 1e9);
      service.close();
    }
  }
}
