package io.ordertimeout.orders.access.session;

import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.monitoring.PeriodicLoop;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import org.springframework.stereotype.Component;

/** Deletes expired sessions. Every instance does; two at the same time do no harm. */
@Component
class SessionPurge extends PeriodicLoop {

  private final SessionStore store;

  SessionPurge(SessionStore store, StepHealthRegistry registry, OrderTimeoutProperties properties) {
    super(
        registry.step("session-purge"),
        LifecyclePhases.SHARD_OBSERVERS,
        properties.deadline().purgeInterval(),
        "expired sessions are kept until the next purge");
    this.store = store;
  }

  @Override
  protected void runTask() {
    store.purge();
  }
}
