package io.ordertimeout.orders.shard;

import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.platform.monitoring.BackgroundLoop;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.suspension.ShardHeartbeats;
import io.ordertimeout.orders.watermark.PaymentWatermark;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.springframework.stereotype.Component;

/**
 * Records a heartbeat in Postgres every second for each shard that this instance serves and whose
 * payments Kafka can report. A shard with an unreachable partition misses its heartbeats and delays
 * those of the others by at most half a second.
 */
@Component
class HeartbeatLoop extends BackgroundLoop {

  private static final Duration INTERVAL = Duration.ofSeconds(1);

  /** How long a heartbeat waits for Kafka's responses. */
  private static final Duration MAX_WAIT = Duration.ofMillis(500);

  private final Shards shards;
  private final PaymentWatermark watermark;
  private final ShardHeartbeats heartbeats;
  private final StepHealth step;

  /** The outstanding requests to Kafka, by shard; confined to the loop's thread. */
  private final Map<Integer, CompletableFuture<?>> requests = new HashMap<>();

  HeartbeatLoop(
      Shards shards,
      PaymentWatermark watermark,
      ShardHeartbeats heartbeats,
      StepHealthRegistry steps) {
    super(
        steps.step("heartbeat"),
        LifecyclePhases.SHARD_OBSERVERS,
        INTERVAL,
        "other instances consider the shards of this instance unserved");
    this.shards = shards;
    this.watermark = watermark;
    this.heartbeats = heartbeats;
    this.step = steps.step("heartbeat");
  }

  @Override
  protected void runOnce() throws InterruptedException {
    Set<Integer> owned = shards.confirmed();
    requests.keySet().retainAll(owned);
    Set<Integer> idle = new TreeSet<>(owned);
    idle.removeAll(requests.keySet());
    if (!idle.isEmpty()) {
      requests.putAll(watermark.reach(idle));
    }
    Map<Integer, CompletableFuture<?>> completed = awaitRequests();
    requests.keySet().removeAll(completed.keySet());
    List<Integer> reachable =
        completed.entrySet().stream()
            .filter(request -> !request.getValue().isCompletedExceptionally())
            .map(Map.Entry::getKey)
            .toList();
    if (!reachable.isEmpty()) {
      heartbeats.beat(reachable);
    } else {
      // No shard is reachable, so Kafka itself has failed and not a single partition: rethrow.
      completed.values().forEach(CompletableFuture::join);
    }
    if (!reachable.isEmpty() || owned.isEmpty()) {
      step.succeeded();
    }
    TimeUnit.MILLISECONDS.sleep(INTERVAL.toMillis());
  }

  /** Waits up to half a second for all requests; returns those that have completed by then. */
  private Map<Integer, CompletableFuture<?>> awaitRequests() throws InterruptedException {
    try {
      CompletableFuture.allOf(requests.values().toArray(CompletableFuture[]::new))
          .get(MAX_WAIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      // The state of each request is checked individually.
    }
    return requests.entrySet().stream()
        .filter(request -> request.getValue().isDone())
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }
}
