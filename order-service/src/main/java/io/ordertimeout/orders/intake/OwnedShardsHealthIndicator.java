package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.shard.Shards;
import io.ordertimeout.orders.suspension.ShardHeartbeats;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.stereotype.Component;

/**
 * Health of this instance's shards: up if it has joined its group, the group confirms its shards,
 * and their wheels are complete. An instance without shards is up only while other instances serve
 * all of them: after a crash, the group does not reassign shards until the dead member's session
 * times out.
 */
@Component
class OwnedShardsHealthIndicator extends AbstractHealthIndicator {

  /** A shard without a heartbeat for this long counts as unserved. */
  private static final Duration UNSERVED_AFTER = Duration.ofSeconds(5);

  private final Shards shards;
  private final Intake intake;
  private final InputTopics inputTopics;
  private final ShardHeartbeats heartbeats;

  OwnedShardsHealthIndicator(
      Shards shards, Intake intake, InputTopics inputTopics, ShardHeartbeats heartbeats) {
    super("could not check whether other instances serve the shards");
    this.shards = shards;
    this.intake = intake;
    this.inputTopics = inputTopics;
    this.heartbeats = heartbeats;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    InputTopics.Layout layout = inputTopics.layout();
    Set<Integer> owned = shards.confirmed();
    Set<Integer> rebuilding = shards.rebuilding();
    boolean joined = intake.hasJoined();
    List<Integer> unserved =
        layout != null && owned.isEmpty()
            ? heartbeats.silent(layout.shards(), UNSERVED_AFTER)
            : List.of();
    boolean confirmed = joined && intake.isConfirmed() && shards.denied().isEmpty();
    if (layout != null && confirmed && rebuilding.isEmpty() && unserved.isEmpty()) {
      health.up();
    } else {
      health.outOfService();
    }
    health
        .withDetail("joined", joined)
        .withDetail("confirmed", confirmed)
        .withDetail("owned", owned)
        .withDetail("rebuilding", rebuilding)
        .withDetail("unserved", unserved);
  }
}
