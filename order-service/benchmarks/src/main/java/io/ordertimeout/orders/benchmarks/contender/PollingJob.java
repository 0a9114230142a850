package io.ordertimeout.orders.benchmarks.contender;

import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A job that looks every second which orders are due, by an index, and cancels them in batches. */
final class PollingJob implements TimeoutScheduler {

  private static final Logger log = LoggerFactory.getLogger(PollingJob.class);
  private static final int BATCH = 1_000;
  private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ShopOrders orders;

  PollingJob(ShopOrders orders) {
    this.orders = orders;
  }

  @Override
  public void schedule(Map<String, Instant> deadlines) {
    // The shop's table has the deadlines.
  }

  @Override
  public void withdraw(Collection<String> orderIds) {
    // The shop's table has the states.
  }

  @Override
  public void start() {
    new Thread(this::run, "polling-job").start();
  }

  private void run() {
    while (true) {
      try {
        int expired;
        do {
          expired = orders.expireDue(BATCH);
        } while (expired == BATCH);
      } catch (RuntimeException e) {
        log.warn("Due orders wait for the next poll", e);
      }
      LockSupport.parkNanos(INTERVAL_NANOS);
    }
  }
}
