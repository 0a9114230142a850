package io.ordertimeout.orders.shard;

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
 * Says every second, in Postgres, which shards this instance serves with Kafka within reach. A
 * shard whose payments Kafka cannot tell of misses its beats and delays no other's by more than a
 * little.
 */
@Component
class HeartbeatLoop extends BackgroundLoop {

  private static final Duration INTERVAL = Duration.ofSeconds(1);

  /** How long a beat waits for shards that Kafka is slow to tell of. */
  private static final Duration PATIENCE = Duration.ofMillis(500);

  private final Shards shards;
  private final PaymentWatermark watermark;
  private final ShardHeartbeats heartbeats;
  private final StepHealth step;

  /** By shard, the questions that are not answered yet; the loop's alone. */
  private final Map<Integer, CompletableFuture<?>> questions = new HashMap<>();

  HeartbeatLoop(
      Shards shards,
      PaymentWatermark watermark,
      ShardHeartbeats heartbeats,
      StepHealthRegistry steps) {
    super(
        steps.step("heartbeat"),
        Shards.PHASE + 1,
        INTERVAL,
        "to everybody else this instance's shards look unserved");
    this.shards = shards;
    this.watermark = watermark;
    this.heartbeats = heartbeats;
    this.step = steps.step("heartbeat");
  }

  @Override
  protected void turn() throws InterruptedException {
    Set<Integer> owned = shards.owned();
    questions.keySet().retainAll(owned);
    Set<Integer> toAsk = new TreeSet<>(owned);
    toAsk.removeAll(questions.keySet());
    if (!toAsk.isEmpty()) {
      questions.putAll(watermark.reach(toAsk));
    }
    Map<Integer, CompletableFuture<?>> answers = awaitAnswers();
    questions.keySet().removeAll(answers.keySet());
    List<Integer> reached =
        answers.entrySet().stream()
            .filter(answer -> !answer.getValue().isCompletedExceptionally())
            .map(Map.Entry::getKey)
            .toList();
    if (!reached.isEmpty()) {
      heartbeats.beat(reached);
    } else {
      // Where none is reached it is not a partition that fails, but Kafka.
      answers.values().forEach(CompletableFuture::join);
    }
    if (!reached.isEmpty() || owned.isEmpty()) {
      step.succeeded();
    }
    TimeUnit.MILLISECONDS.sleep(INTERVAL.toMillis());
  }

  /** Waits a little for all answers; returns those that came, by now or late to an earlier beat. */
  private Map<Integer, CompletableFuture<?>> awaitAnswers() throws InterruptedException {
    try {
      CompletableFuture.allOf(questions.values().toArray(CompletableFuture[]::new))
          .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      // Each shard's answer says so itself.
    }
    return questions.entrySet().stream()
        .filter(question -> question.getValue().isDone())
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }
}
