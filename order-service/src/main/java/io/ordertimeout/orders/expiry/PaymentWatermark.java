package io.ordertimeout.orders.expiry;

import io.ordertimeout.orders.BackgroundLoop;
import io.ordertimeout.orders.DatabaseClock;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.Step;
import io.ordertimeout.orders.Steps;
import io.ordertimeout.orders.StoredPositions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * The gate before every cancellation: up to which instant all payments of a shard are known to be
 * in Postgres.
 *
 * <p>The watermark of a shard is a time {@code T} read from Postgres, after which the end offsets
 * of the shard's payments and closings were asked for, and below which everything is committed. A
 * record appended before a deadline {@code D <= T} lies below those ends, so it was seen. Nothing
 * is asked while nobody waits. Thread-safe; a question for all waiting shards is one round trip to
 * Postgres and one to Kafka.
 *
 * <p>Where an order and its payment may be in partitions of different numbers, the ends of all
 * partitions count for each shard; what other instances have stored is then read from Postgres.
 */
@Component
public class PaymentWatermark implements SmartLifecycle {

  /** Phase of the life cycle: as long as decisions may wait. */
  public static final int PHASE = Expiry.PHASE + 1;

  private static final Logger log = LoggerFactory.getLogger(PaymentWatermark.class);
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(5);

  /** Longest wait for Postgres's clock to reach a deadline before it is asked again. */
  private static final Duration CLOCK_WAIT = Duration.ofMillis(50);

  /** How often the positions of other instances are looked up while they are waited for. */
  private static final Duration LOOK = Duration.ofMillis(50);

  private record Waiter(Instant deadline, Consumer<Instant> then) {}

  private final DatabaseClock clock;
  private final EndOffsets endOffsets;
  private final StoredPositions positions;
  private final ExpiryHolds holds;
  private final Collection<String> inputs;
  private final Duration retryDelay;
  private final Step step;
  private final BackgroundLoop loop;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition asked = lock.newCondition();
  private final Map<Integer, Gate> gates = new HashMap<>();
  private volatile boolean running;

  PaymentWatermark(
      DatabaseClock clock,
      EndOffsets endOffsets,
      StoredPositions positions,
      ExpiryHolds holds,
      Steps steps,
      OrderTimeoutProperties properties) {
    this.clock = clock;
    this.endOffsets = endOffsets;
    this.positions = positions;
    this.holds = holds;
    this.inputs = properties.topics().inputs();
    this.step = steps.step("payment-watermark");
    this.retryDelay = properties.expiry().retryDelay();
    this.loop =
        new BackgroundLoop(
            step,
            this::turn,
            retryDelay,
            "due orders stay pending until the payments before them are known");
    holds.onChange(() -> locked(asked::signal));
  }

  /** What is known of one shard; guarded by the lock. */
  private static final class Gate {
    /** Next offset that is not committed in Postgres, by partition of payments and closings. */
    final Map<TopicPartition, Long> stored = new HashMap<>();

    final List<Waiter> waiters = new ArrayList<>();
    Map<TopicPartition, Long> ends = Map.of();
    Instant endsAsOf = Instant.MIN;
    Instant watermark = Instant.MIN;

    boolean wantsEnds() {
      return !waiters.isEmpty() && ends.isEmpty();
    }

    boolean awaitsEnds() {
      return !ends.isEmpty();
    }

    /** Notes positions of which Postgres says that they are stored, by whichever instance. */
    void stored(Map<TopicPartition, Long> positions) {
      for (TopicPartition partition : ends.keySet()) {
        Long position = positions.get(partition);
        if (position != null) {
          stored.merge(partition, position, Math::max);
        }
      }
    }

    /** Raises the watermark if all ends are reached; returns the waiters that it passed. */
    List<Waiter> advance() {
      boolean reached =
          !ends.isEmpty()
              && ends.entrySet().stream()
                  .allMatch(end -> stored.getOrDefault(end.getKey(), -1L) >= end.getValue());
      if (!reached) {
        return List.of();
      }
      ends = Map.of();
      watermark = endsAsOf;
      List<Waiter> passed = waiters.stream().filter(w -> !w.deadline.isAfter(watermark)).toList();
      waiters.removeAll(passed);
      return passed;
    }
  }

  /** Starts to keep the watermark of a shard; nothing of it is known to be stored yet. */
  public void open(int shard) {
    locked(() -> gates.put(shard, new Gate()));
  }

  /** Forgets the shard and whoever waits for it. */
  public void close(int shard) {
    locked(() -> gates.remove(shard));
  }

  /**
   * Tells that all records of a partition of payments or closings below the position are committed
   * in Postgres.
   */
  public void stored(TopicPartition partition, long position) {
    List<Waiter> passed = List.of();
    Instant watermark = Instant.MIN;
    lock.lock();
    try {
      Gate gate = gates.get(partition.partition());
      if (gate != null) {
        gate.stored.put(partition, position);
        passed = gate.advance();
        watermark = gate.watermark;
        if (gate.wantsEnds()) {
          asked.signal();
        }
      }
    } finally {
      lock.unlock();
    }
    letPass(passed, watermark);
  }

  /** Those of the shards whose payments and closings Kafka can be asked for now. */
  public Set<Integer> reachable(Collection<Integer> shards) throws InterruptedException {
    return endOffsets.of(shards).keySet();
  }

  /**
   * Calls back with the watermark once it has passed the deadline: at once, or on another thread
   * later, or never if the shard is closed before.
   */
  public void whenPassed(int shard, Instant deadline, Consumer<Instant> then) {
    Instant passed;
    lock.lock();
    try {
      Gate gate = gates.get(shard);
      if (gate == null) {
        return;
      }
      passed = gate.watermark;
      if (deadline.isAfter(passed) || holds.isHeld(shard)) {
        gate.waiters.add(new Waiter(deadline, then));
        asked.signal();
        return;
      }
    } finally {
      lock.unlock();
    }
    then.accept(passed);
  }

  /** For how long the longest waiting deadline of the shard has been held; zero if none is. */
  public Duration lag(int shard) {
    lock.lock();
    try {
      Gate gate = gates.get(shard);
      if (gate == null) {
        return Duration.ZERO;
      }
      Instant now = clock.now();
      return gate.waiters.stream()
          .map(waiter -> Duration.between(waiter.deadline, now))
          .filter(held -> !held.isNegative())
          .max(Duration::compareTo)
          .orElse(Duration.ZERO);
    } finally {
      lock.unlock();
    }
  }

  private void turn() throws InterruptedException {
    Set<Integer> shards = awaitQuestion();
    if (!shards.isEmpty()) {
      ask(shards);
    }
    if (endOffsets.reachAcrossShards()) {
      lookUpStored();
    }
    step.succeeded();
  }

  private void ask(Set<Integer> shards) throws InterruptedException {
    // In this order: what is appended before T is below ends that were asked for after T.
    Instant time = clock.ask();
    Map<Integer, Map<TopicPartition, Long>> ends = endOffsets.of(shards);
    log.debug("Ends as of {}, told {} later: {}", time, Duration.between(time, clock.now()), ends);
    Instant latest = Instant.MIN;
    for (Integer shard : shards) {
      Map<TopicPartition, Long> shardEnds = ends.get(shard);
      if (shardEnds != null) {
        latest = max(latest, answer(shard, time, shardEnds));
      }
    }
    if (ends.size() < shards.size()) {
      throw new KafkaException(
          "Kafka did not tell the end offsets of "
              + (shards.size() - ends.size())
              + " of "
              + shards.size()
              + " shards");
    }
    if (latest.isAfter(time)) {
      // This instance's idea of Postgres's clock is ahead of it by a little.
      Duration wait = Duration.between(time, latest);
      TimeUnit.NANOSECONDS.sleep(Math.min(wait.toNanos(), CLOCK_WAIT.toNanos()));
    }
  }

  private void lookUpStored() {
    Map<TopicPartition, Long> stored = new HashMap<>();
    positions.of(inputs).forEach((partition, known) -> stored.put(partition, known.nextOffset()));
    List<Runnable> passed = new ArrayList<>();
    locked(
        () -> {
          for (Gate gate : gates.values()) {
            gate.stored(stored);
            List<Waiter> waiters = gate.advance();
            Instant watermark = gate.watermark;
            passed.add(() -> letPass(waiters, watermark));
          }
        });
    passed.forEach(Runnable::run);
  }

  /** Waits for shards whose ends are to be asked for, or to look at what others have stored. */
  private Set<Integer> awaitQuestion() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (true) {
        Set<Integer> shards = new HashSet<>();
        gates.forEach(
            (shard, gate) -> {
              if (gate.wantsEnds() && !holds.isHeld(shard)) {
                shards.add(shard);
              }
            });
        if (!shards.isEmpty()) {
          return shards;
        }
        if (endOffsets.reachAcrossShards() && gates.values().stream().anyMatch(Gate::awaitsEnds)) {
          if (!asked.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
            return shards;
          }
        } else {
          asked.await();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns the latest deadline that still waits although all its payments are stored. */
  private Instant answer(int shard, Instant time, Map<TopicPartition, Long> ends) {
    List<Waiter> passed = List.of();
    Instant watermark = Instant.MIN;
    Instant ahead = Instant.MIN;
    lock.lock();
    try {
      Gate gate = gates.get(shard);
      if (gate != null) {
        gate.ends = ends;
        gate.endsAsOf = time;
        passed = gate.advance();
        watermark = gate.watermark;
        if (gate.wantsEnds()) {
          ahead = gate.waiters.stream().map(Waiter::deadline).reduce(ahead, PaymentWatermark::max);
        }
      }
    } finally {
      lock.unlock();
    }
    letPass(passed, watermark);
    return ahead;
  }

  private static void letPass(List<Waiter> passed, Instant watermark) {
    passed.forEach(waiter -> waiter.then.accept(watermark));
  }

  private static Instant max(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }

  private void locked(Runnable change) {
    lock.lock();
    try {
      change.run();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void start() {
    running = true;
    loop.start();
  }

  @Override
  public void stop() {
    loop.stop(STOP_PATIENCE);
    running = false;
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
