package io.ordertimeout.orders.deadline;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import java.time.Duration;
import java.time.Instant;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Deletes orders that were settled longer ago than the retention. Every instance runs it; that two
 * meet is harmless. Small batches keep the transactions short.
 */
@Component
class SettledOrdersPurge {

  private static final Logger log = LoggerFactory.getLogger(SettledOrdersPurge.class);
  private static final int BATCH = 5_000;

  private final OrderDeadlineRepository orders;
  private final DatabaseClock clock;
  private final Duration retention;
  private final StepHealth step;

  SettledOrdersPurge(
      OrderDeadlineRepository orders,
      DatabaseClock clock,
      StepHealthRegistry steps,
      OrderTimeoutProperties properties) {
    this.orders = orders;
    this.clock = clock;
    this.step = steps.step("purge");
    this.retention = properties.deadline().retention();
  }

  @Scheduled(
      fixedDelayString = "${order-timeout.deadline.purge-interval:1m}",
      initialDelayString = "${order-timeout.deadline.purge-interval:1m}")
  void purge() {
    try {
      Instant before = clock.now().minus(retention);
      int purged = drain(() -> orders.purgeSettled(before, BATCH));
      purged += drain(() -> orders.purgeConflicts(before, BATCH));
      purged += orders.purgeParked(before);
      if (purged > 0) {
        log.info("Purged {} rows settled before {}", purged, before);
      }
      step.succeeded();
    } catch (RuntimeException e) {
      step.failed("settled orders stay until the next time", e);
    }
  }

  private static int drain(IntSupplier deleteBatch) {
    int total = 0;
    int deleted;
    do {
      deleted = deleteBatch.getAsInt();
      total += deleted;
    } while (deleted == BATCH && !Thread.currentThread().isInterrupted());
    return total;
  }
}
