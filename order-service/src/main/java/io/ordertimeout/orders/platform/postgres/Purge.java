package io.ordertimeout.orders.platform.postgres;

import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.monitoring.PeriodicLoop;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Deletes what is over: settled orders, old actions and interruptions, expired sessions. Every
 * instance does; two at the same time do no harm. What cannot be deleted delays nothing else.
 */
@Component
class Purge extends PeriodicLoop {

  private final List<Purgeable> all;
  private final DatabaseClock clock;

  Purge(
      List<Purgeable> all,
      DatabaseClock clock,
      StepHealthRegistry registry,
      OrderTimeoutProperties properties) {
    super(
        registry.step("purge"),
        LifecyclePhases.SHARD_OBSERVERS,
        properties.deadline().purgeInterval(),
        "settled orders, old actions and interruptions, and expired sessions are kept until the next"
            + " purge");
    this.all = all;
    this.clock = clock;
  }

  @Override
  protected void runTask() {
    if (!clock.isSet()) {
      return; // The schema may still be migrated, which may take long.
    }
    RuntimeException failure = null;
    for (Purgeable rows : all) {
      failure = purge(rows, failure);
    }
    if (failure != null) {
      throw failure;
    }
  }

  private static @Nullable RuntimeException purge(
      Purgeable rows, @Nullable RuntimeException earlier) {
    try {
      rows.purge();
      return earlier;
    } catch (RuntimeException e) {
      if (earlier == null) {
        return e;
      }
      earlier.addSuppressed(e);
      return earlier;
    }
  }
}
