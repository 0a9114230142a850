package io.ordertimeout.orders.shard;

import io.ordertimeout.orders.platform.loop.PeriodicTasks;
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
import org.apache.kafka.common.KafkaException;
import org.springframework.stereotype.Component;

/**
 * Records a heartbeat in Postgres every second for each shard that this instance serves and whose
 * payments Kafka can report. A shard with an unreachable partition misses its heartbeats and delays
 * those of the others by at most half a second.
 */
@Component
class Heartbeat {

  private static final Duration INTERVAL = Duration.ofSeconds(1);

  /** How long the heartbeats of other shards wait for a shard that Kafka cannot report. */
  private static final Duration MAX_WAIT = Duration.ofMillis(500);

  /** How long they wait while Kafka has not answered for any shard: until then, it may be slow. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Shards shards;
  private final PaymentWatermark watermark;
  private final ShardHeartbeats heartbeats;

  /** The outstanding requests to Kafka, by shard; confined to the task's thread. */
  private final Map<Integer, CompletableFuture<?>> requests = new HashMap<>();

  Heartbeat(
      Shards shards, PaymentWatermark watermark, ShardHeartbeats heartbeats, PeriodicTasks tasks) {
    this.shards = shards;
    this.watermark = watermark;
    this.heartbeats = heartbeats;
    tasks.repeat(
        "heartbeat",
        INTERVAL,
        "other instances consider the shards of this instance unserved",
        this::beat);
  }

  private void beat() throws InterruptedException {
    Set<Integer> owned = shards.confirmed();
    requests.keySet().retainAll(owned);
    Set<Integer> idle = new TreeSet<>(owned);
    idle.removeAll(requests.keySet());
    if (!idle.isEmpty()) {
      requests.putAll(watermark.reach(idle));
    }
    Map<Integer, CompletableFuture<?>> completed = awaitAnswers(requests);
    requests.keySet().removeAll(completed.keySet());
    List<Integer> reachable =
        completed.entrySet().stream()
            .filter(request -> !request.getValue().isCompletedExceptionally())
            .map(Map.Entry::getKey)
            .toList();
    if (!reachable.isEmpty()) {
      heartbeats.beat(reachable);
    } else if (!owned.isEmpty()) {
      // No shard is reachable, so Kafka itself has failed and not a single partition.
      completed.values().forEach(CompletableFuture::join);
      throw new KafkaException("Kafka has not answered for any shard within " + PATIENCE);
    }
  }

  /**
   * Waits up to half a second for all requests, and longer for the first answer; returns those that
   * have completed by then.
   */
  static Map<Integer, CompletableFuture<?>> awaitAnswers(
      Map<Integer, CompletableFuture<?>> requests) throws InterruptedException {
    CompletableFuture<?>[] all = requests.values().toArray(CompletableFuture[]::new);
    await(CompletableFuture.allOf(all), MAX_WAIT);
    if (all.length > 0) {
      await(CompletableFuture.anyOf(all), PATIENCE);
    }
    return requests.entrySet().stream()
        .filter(request -> request.getValue().isDone())
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  private static void await(CompletableFuture<?> answers, Duration longest)
      throws InterruptedException {
    try {
      answers.get(longest.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      // The state of each request is checked individually.
    }
  }
}
