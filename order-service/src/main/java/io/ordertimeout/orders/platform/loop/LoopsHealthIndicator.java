package io.ordertimeout.orders.platform.loop;

import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * Health of the threads that run for as long as the service. A loop survives every failure of its
 * task; if its thread has ended nevertheless, only a restart of the process helps.
 */
@Component
class LoopsHealthIndicator implements HealthIndicator {

  private final ObjectProvider<LoopThreads> loops;

  LoopsHealthIndicator(ObjectProvider<LoopThreads> loops) {
    this.loops = loops;
  }

  @Override
  public Health health() {
    List<String> ended = loops.stream().flatMap(loop -> loop.endedThreads().stream()).toList();
    return (ended.isEmpty() ? Health.up() : Health.down()).withDetail("ended", ended).build();
  }
}
