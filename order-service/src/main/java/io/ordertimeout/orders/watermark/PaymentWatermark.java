package io.ordertimeout.orders.watermark;

import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.Watermark;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.loop.BackgroundLoop;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.position.StoredPositions;
import io.ordertimeout.orders.suspension.Suspensions;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * The payment watermark of each owned shard: the time up to which all payments of the shard are
 * known to be stored in Postgres. No order is cancelled before the watermark has passed its
 * deadline.
 *
 * <p>A watermark is a time {@code T} that was read from Postgres before Kafka was asked where the
 * shard's payments and closures end, once everything below those ends is stored. A record that was
 * appended before a deadline {@code D <= T} lies below the ends, so it is stored. Kafka is asked
 * only while a deadline waits. One question for all waiting shards takes one round trip to Postgres
 * and one to Kafka, which answers for each shard separately, so a partition without a leader delays
 * no other shard. Thread-safe.
 *
 * <p>Where an order and its payment may be in partitions of different numbers, the ends of all
 * partitions count for each shard; the positions of other instances are then read from Postgres.
 */
@Component
public class PaymentWatermark extends BackgroundLoop {

  private static final Logger log = LoggerFactory.getLogger(PaymentWatermark.class);

  /** Longest wait for Postgres's clock to reach a deadline before Postgres is asked again. */
  private static final Duration CLOCK_WAIT = Duration.ofMillis(50);

  /** Interval at which awaited positions of other instances are read. */
  private static final Duration POSITION_POLL = Duration.ofMillis(50);

  /** How long the first waiter waits for those of other shards that come due in the same tick. */
  private static final Duration COLLECTING = Duration.ofNanos(500_000);

  /** Longest wait for the first waiter. */
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
      Suspensions suspensions,
      StepHealthRegistry steps,
      OrderTimeoutProperties properties) {
    super(
        steps.step("payment-watermark"),
        LifecyclePhases.WATERMARK,
        properties.expiry().retryDelay(),
        CONSEQUENCE);
    this.clock = clock;
    this.endOffsets = endOffsets;
    this.positions = positions;
    this.gates = new WatermarkGates(suspensions::isSuspended);
    this.inputs = properties.topics().inputs();
    this.step = steps.step("payment-watermark");
    this.retryDelay = properties.expiry().retryDelay();
    suspensions.onChange(gates::wake);
  }

  /** Starts to maintain the watermark of a shard, of which nothing is known to be stored yet. */
  public void open(int shard) {
    gates.open(shard);
  }

  /** Stops maintaining the watermark of a shard and discards its waiters. */
  public void close(int shard) {
    gates.close(shard);
  }

  /**
   * Records that everything below the positions in partitions of settling topics is stored in
   * Postgres.
   */
  public void stored(Map<TopicPartition, Long> positions) {
    gates.stored(positions);
  }

  /** Whether a watermark awaits events of settling topics that are in Kafka and not stored yet. */
  public boolean isAwaitingStorage() {
    return gates.isAwaitingStorage();
  }

  /**
   * Checks whether Kafka can be asked for the payments and closures of shards now; the answer of a
   * shard for which it cannot is a failure.
   */
  public Map<Integer, ? extends CompletableFuture<?>> reach(Collection<Integer> shards) {
    return endOffsets.of(shards, endOffsets.layout(), endOffsets.reachAcrossShards());
  }

  /**
   * Calls back, on another thread, with a watermark that was read after this call and has passed
   * the deadline. If Postgres's clock was set back, so that the deadline is more than a second
   * ahead of it, calls back with a watermark that has not passed it.
   *
   * @param discarded called instead if the shard is not open, or is closed before
   */
  public void whenPassed(
      int shard, Instant deadline, Consumer<Watermark> then, Runnable discarded) {
    gates.whenPassed(shard, deadline, then, discarded);
  }

  /**
   * Returns how long the oldest due order of the shard has been waiting for the watermark; zero if
   * none is, or if all expiry of the shard is paused or held.
   */
  public Duration lag(int shard) {
    return gates.lag(shard, clock.now());
  }

  @Override
  protected void runOnce() throws InterruptedException {
    Set<Integer> shards = gates.toAsk();
    if (shards.isEmpty()) {
      gates.awaitChange(gates.awaitOtherShards() ? POSITION_POLL : IDLE);
      LockSupport.parkNanos(COLLECTING.toNanos());
    } else {
      ask(shards);
    }
    if (gates.awaitOtherShards()) {
      readStoredPositions();
    }
    if (!gates.areInDoubt()) {
      step.succeeded();
    }
  }

  // The answer is handled by its callback.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void ask(Set<Integer> shards) {
    Map<Integer, Long> questions = new HashMap<>();
    shards.forEach(shard -> questions.put(shard, gates.asking(shard)));
    try {
      InputTopics.Layout layout = endOffsets.layout();
      boolean across = endOffsets.reachAcrossShards();
      // In this order: a record appended before T is below ends that were requested after T.
      Instant time = clock.readExact();
      endOffsets
          .of(shards, layout, across)
          .forEach(
              (shard, answer) -> {
                long question = questions.getOrDefault(shard, 0L);
                answer.whenComplete(
                    (ends, failure) -> {
                      try {
                        if (ends == null) {
                          unanswered(shard, question, failure);
                        } else {
                          answered(
                              shard, question, new Watermark(time, ends, layout.ids(), across));
                        }
                      } catch (RuntimeException | Error e) {
                        // Nobody reads the callback's future, and the shard would wait forever.
                        unanswered(shard, question, e);
                      }
                    });
              });
    } catch (RuntimeException | Error e) {
      questions.forEach(gates::unanswered);
      questions.forEach(gates::askAgain);
      throw e;
    }
  }

  private void unanswered(int shard, long question, @Nullable Throwable failure) {
    gates.unanswered(shard, question);
    step.failed(
        CONSEQUENCE,
        new KafkaException("the end offsets of shard " + shard + " are unknown", failure));
    askAgain(shard, question, retryDelay);
  }

  private void answered(int shard, long question, Watermark answer) {
    log.debug(
        "Ends as of {}, received {} later: {}",
        answer.time(),
        Duration.between(answer.time(), clock.now()),
        answer.ends());
    // The deadline is ahead of Postgres's clock, because this instance's estimate of it is ahead.
    Duration ahead = Duration.between(answer.time(), gates.answered(shard, question, answer));
    askAgain(shard, question, ahead.compareTo(CLOCK_WAIT) < 0 ? ahead : CLOCK_WAIT);
  }

  private void askAgain(int shard, long question, Duration delay) {
    if (delay.isZero()) {
      gates.askAgain(shard, question);
    } else {
      CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
          .execute(() -> gates.askAgain(shard, question));
    }
  }

  private void readStoredPositions() {
    Map<TopicPartition, Long> stored = new HashMap<>();
    positions
        .read(inputs)
        .positions()
        .forEach((partition, known) -> stored.put(partition, known.nextOffset()));
    gates.storedByOthers(stored);
  }
}
