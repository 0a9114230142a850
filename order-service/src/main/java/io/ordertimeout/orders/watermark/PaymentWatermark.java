package io.ordertimeout.orders.watermark;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.expiry.Expiry;
import io.ordertimeout.orders.platform.kafka.StoredPositions;
import io.ordertimeout.orders.platform.monitoring.BackgroundLoop;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.suspension.ExpiryHolds;
import io.ordertimeout.orders.suspension.ExpiryPauses;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * The gate before every cancellation: up to which instant all payments of a shard are known to be
 * in Postgres.
 *
 * <p>The watermark of a shard is a time {@code T} read from Postgres, after which the end offsets
 * of the shard's payments and closings were asked for, and below which everything is committed. A
 * record appended before a deadline {@code D <= T} lies below those ends, so it was seen. Nothing
 * is asked while nobody waits. A question for all waiting shards is one round trip to Postgres and
 * one to Kafka, which answers shard by shard: one whose partition has no leader holds up no other.
 * Thread-safe.
 *
 * <p>Where an order and its payment may be in partitions of different numbers, the ends of all
 * partitions count for each shard; what other instances have stored is then read from Postgres.
 */
@Component
public class PaymentWatermark extends BackgroundLoop {

  /** Phase of the life cycle: as long as decisions may wait. */
  public static final int PHASE = Expiry.PHASE + 1;

  private static final Logger log = LoggerFactory.getLogger(PaymentWatermark.class);

  /** Longest wait for Postgres's clock to reach a deadline before it is asked again. */
  private static final Duration CLOCK_WAIT = Duration.ofMillis(50);

  /** How often the positions of other instances are looked up while they are waited for. */
  private static final Duration LOOK = Duration.ofMillis(50);

  /** Longest wait for somebody who waits. */
  private static final Duration IDLE = Duration.ofHours(1);

  private static final String CONSEQUENCE =
      "due orders stay pending until the payments before them are known";

  private final DatabaseClock clock;
  private final EndOffsets endOffsets;
  private final WatermarkGates gates;
  private final StoredPositions positions;
  private final Collection<String> inputs;
  private final Duration retryDelay;
  private final StepHealth step;

  PaymentWatermark(
      DatabaseClock clock,
      EndOffsets endOffsets,
      StoredPositions positions,
      ExpiryHolds holds,
      ExpiryPauses pauses,
      StepHealthRegistry steps,
      OrderTimeoutProperties properties) {
    super(steps.step("payment-watermark"), PHASE, properties.expiry().retryDelay(), CONSEQUENCE);
    this.clock = clock;
    this.endOffsets = endOffsets;
    this.positions = positions;
    this.gates = new WatermarkGates(shard -> pauses.isAllPaused() || holds.isHeld(shard));
    this.inputs = properties.topics().inputs();
    this.step = steps.step("payment-watermark");
    this.retryDelay = properties.expiry().retryDelay();
    holds.onChange(gates::wake);
    pauses.onChange(gates::wake);
  }

  /** Starts to keep the watermark of a shard; nothing of it is known to be stored yet. */
  public void open(int shard) {
    gates.open(shard);
  }

  /** Forgets the shard and whoever waits for it. */
  public void close(int shard) {
    gates.close(shard);
  }

  /**
   * Tells that all records of a partition of payments or closings below the position are committed
   * in Postgres.
   */
  public void stored(TopicPartition partition, long position) {
    gates.stored(partition, position);
  }

  /**
   * Asks whether the payments and closings of shards can be asked for now; each shard is answered
   * by itself, with a failure if they cannot.
   */
  public Map<Integer, ? extends CompletableFuture<?>> reach(Collection<Integer> shards) {
    return endOffsets.of(shards);
  }

  /**
   * Calls back with the watermark once it has passed the deadline: at once, or on another thread
   * later, or never if the shard is closed before.
   */
  public void whenPassed(int shard, Instant deadline, Consumer<Instant> then) {
    gates.whenPassed(shard, deadline, then);
  }

  /** For how long the longest waiting deadline of the shard has been held; zero if none is. */
  public Duration lag(int shard) {
    return gates.lag(shard, clock.now());
  }

  @Override
  protected void runOnce() throws InterruptedException {
    Set<Integer> shards = gates.toAsk();
    boolean across = endOffsets.reachAcrossShards();
    if (shards.isEmpty()) {
      gates.awaitNews(across && gates.awaitStored() ? LOOK : IDLE);
    } else {
      ask(shards);
    }
    if (across) {
      lookUpStored();
    }
    if (!gates.areInDoubt()) {
      step.succeeded();
    }
  }

  // The answer is all that is to be done with it.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void ask(Set<Integer> shards) {
    // In this order: what is appended before T is below ends that were asked for after T.
    Instant time = clock.ask();
    endOffsets
        .of(shards)
        .forEach(
            (shard, answer) -> {
              gates.asking(shard);
              answer.whenComplete((ends, failure) -> answered(shard, time, ends, failure));
            });
  }

  private void answered(
      int shard,
      Instant time,
      @Nullable Map<TopicPartition, Long> ends,
      @Nullable Throwable failure) {
    if (ends == null) {
      gates.unanswered(shard);
      step.failed(
          CONSEQUENCE,
          new KafkaException("the end offsets of shard " + shard + " are unknown", failure));
      askAgain(shard, retryDelay);
      return;
    }
    log.debug("Ends as of {}, told {} later: {}", time, Duration.between(time, clock.now()), ends);
    // A deadline ahead of Postgres's clock: this instance's idea of it is ahead by a little.
    Duration ahead = Duration.between(time, gates.answered(shard, time, ends));
    askAgain(shard, ahead.compareTo(CLOCK_WAIT) < 0 ? ahead : CLOCK_WAIT);
  }

  private void askAgain(int shard, Duration delay) {
    if (delay.isZero()) {
      gates.askAgain(shard);
    } else {
      CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
          .execute(() -> gates.askAgain(shard));
    }
  }

  private void lookUpStored() {
    Map<TopicPartition, Long> stored = new HashMap<>();
    positions.of(inputs).forEach((partition, known) -> stored.put(partition, known.nextOffset()));
    gates.stored(stored);
  }
}
