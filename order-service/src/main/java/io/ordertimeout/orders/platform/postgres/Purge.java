package io.ordertimeout.orders.platform.postgres;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import java.util.List;
import org.springframework.stereotype.Component;

/**
 * Deletes all that is over. Every instance does; two at the same time do no harm. What cannot be
 * deleted delays nothing else.
 */
@Component
class Purge {

  private final List<Purgeable> all;
  private final DatabaseClock clock;

  Purge(
      List<Purgeable> all,
      DatabaseClock clock,
      PeriodicTasks tasks,
      OrderTimeoutProperties properties) {
    this.all = all;
    this.clock = clock;
    tasks.repeat(
        "purge",
        properties.deadline().purgeInterval(),
        "settled orders, old actions and reports, and expired sessions are kept until the next purge",
        this::purge);
  }

  private void purge() {
    // The schema may still be migrated, which may take long.
    if (clock.isSet()) {
      purge(all);
    }
  }

  /** Purges them all, and then throws what the first of those threw that failed. */
  static void purge(List<Purgeable> all) {
    Throwable failure = null;
    for (Purgeable rows : all) {
      try {
        rows.purge();
      } catch (RuntimeException | Error e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
  }
}
