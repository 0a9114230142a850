package io.ordertimeout.orders.benchmarks.contender;

import java.time.Instant;
import java.util.Collection;
import java.util.Map;

/** A general scheduler in the role of a timeout for orders. */
interface TimeoutScheduler {

  /** Has each of the orders expire at its time, unless it is withdrawn. */
  void schedule(Map<String, Instant> deadlines);

  /** Withdraws the timeouts of paid orders. */
  void withdraw(Collection<String> orderIds);

  /** Begins to expire orders. */
  void start();
}
