package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.contender.Contender;
import io.ordertimeout.orders.benchmarks.report.Results.Section;
import io.ordertimeout.orders.benchmarks.servers.Waiting;
import io.ordertimeout.orders.benchmarks.traffic.Customers;
import io.ordertimeout.orders.benchmarks.traffic.Judge;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import io.ordertimeout.orders.benchmarks.traffic.Trial;
import java.time.Duration;
import java.util.List;
import org.HdrHistogram.Histogram;

/** Many orders that come due at the same instant. */
final class DueBurst {

  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final int ATTEMPTS = 4;

  private final Shop shop;
  private final Contender contender;
  private final int orders;

  DueBurst(Shop shop, Contender contender, int orders) {
    this.shop = shop;
    this.contender = contender;
    this.orders = orders;
  }

  /**
   * Measures and adds a row to the section; returns what is wrong with the cancellations.
   *
   * @param lead the time in which the contender has to store the orders; longer if it needs more
   */
  List<String> measure(Section section, String row, long firstNumber, Duration lead) {
    Duration timeout = lead;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try (Trial trial = new Trial(shop, firstNumber + (long) attempt * orders, orders)) {
        Judge judge = trial.judge();
        long deadline = System.currentTimeMillis() + timeout.toMillis();
        if (store(trial.customers(), deadline)) {
          Usage before = Usage.of(contender, shop.servers());
          boolean complete = Waiting.until(() -> judge.cancelled() >= orders, PATIENCE);
          add(section, row, judge, deadline, complete);
          Usage.of(contender, shop.servers()).since(before).addCpuPerOrder(section, row, orders);
          return judge.verdict().violationsWithoutCrash();
        }
        Waiting.until(() -> judge.cancelled() >= orders, PATIENCE);
      }
      timeout = timeout.multipliedBy(2);
    }
    return List.of(row + ": " + orders + " orders are not stored within " + timeout);
  }

  /** Returns whether the contender has stored all orders before they come due. */
  private boolean store(Customers customers, long deadlineMillis) {
    for (int i = 0; i < orders; i++) {
      customers.create(deadlineMillis);
    }
    customers.flush();
    return shop.awaitRead(
        shop.created(),
        Duration.ofMillis(Math.max(0, deadlineMillis - System.currentTimeMillis())));
  }

  private void add(Section section, String row, Judge judge, long deadline, boolean complete) {
    if (!complete) {
      section.note(row + ": only " + judge.cancelled() + " were cancelled within " + PATIENCE);
      return;
    }
    Histogram lateness = judge.latenessSinceLastCall();
    section.add(row, "first after, ms", (double) lateness.getMinValue());
    section.add(row, "half after, ms", (double) lateness.getValueAtPercentile(50));
    double last = (double) (judge.lastCancelledAt() - deadline);
    section.add(row, "last after, ms", last);
    section.add(row, "orders/s", judge.cancelled() / Math.max(1, last) * 1e3);
  }
}
