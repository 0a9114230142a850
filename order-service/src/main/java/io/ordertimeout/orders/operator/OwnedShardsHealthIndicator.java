package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.intake.Intake;
import io.ordertimeout.orders.shard.Shards;
import java.util.Set;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/** Whether the wheels of all owned shards are complete: the readiness of this instance. */
@Component
class OwnedShardsHealthIndicator implements HealthIndicator {

  private final Shards shards;
  private final Intake intake;

  OwnedShardsHealthIndicator(Shards shards, Intake intake) {
    this.shards = shards;
    this.intake = intake;
  }

  @Override
  public Health health() {
    Set<Integer> rebuilding = shards.rebuilding();
    boolean ready = intake.hasJoined() && rebuilding.isEmpty();
    return (ready ? Health.up() : Health.outOfService())
        .withDetail("joined", intake.hasJoined())
        .withDetail("owned", shards.owned())
        .withDetail("rebuilding", rebuilding)
        .build();
  }
}
