package io.ordertimeout.orders.watermark;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.apache.kafka.common.TopicPartition;

/**
 * The gates of the owned shards. They hold the deadlines that wait for a watermark, know which
 * shards Kafka has to be asked about, and let waiters pass when an answer or a stored position
 * raises a watermark. The gates ask nothing themselves. Thread-safe; a waiter is called on the
 * thread that lets it pass, without a lock held.
 */
final class WatermarkGates {

  private final IntPredicate held;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<Integer, WatermarkGate> gates = new HashMap<>();
  private boolean hasChanged;

  /**
   * Creates gates without a shard.
   *
   * @param held whether the shard's gate is closed for now, whatever its watermark
   */
  WatermarkGates(IntPredicate held) {
    this.held = held;
  }

  /** Creates the gate of a shard, of which nothing is known to be stored yet. */
  void open(int shard) {
    locked(() -> gates.put(shard, new WatermarkGate()));
  }

  /** Discards the gate of a shard with its waiters. */
  void close(int shard) {
    locked(
        () -> {
          gates.remove(shard);
          signal();
        });
  }

  /** Records up to where a partition is stored, for the shard of the same number. */
  void stored(TopicPartition partition, long position) {
    letPass(
        partition.partition(),
        gate -> {
          gate.stored.put(partition, position);
          return gate.advance();
        });
  }

  /** Records up to where partitions of any shards are stored, by any instance. */
  void stored(Map<TopicPartition, Long> positions) {
    for (int shard : find(WatermarkGate::awaitsEnds)) {
      letPass(
          shard,
          gate -> {
            for (TopicPartition partition : gate.ends.keySet()) {
              Long position = positions.get(partition);
              if (position != null) {
                gate.stored.merge(partition, position, Math::max);
              }
            }
            return gate.advance();
          });
    }
  }

  /** Calls back with the shard's watermark once it has passed the deadline. */
  void whenPassed(int shard, Instant deadline, Consumer<Instant> then) {
    letPass(
        shard,
        gate -> {
          WatermarkGate.Waiter waiter = new WatermarkGate.Waiter(deadline, then);
          if (!deadline.isAfter(gate.watermark) && !held.test(shard)) {
            return List.of(waiter);
          }
          gate.waiters.add(waiter);
          return List.of();
        });
  }

  /** Returns how long the oldest waiting deadline has been held; zero if none is. */
  Duration lag(int shard, Instant now) {
    lock.lock();
    try {
      WatermarkGate gate = gates.get(shard);
      return gate == null
          ? Duration.ZERO
          : gate.waiters.stream()
              .map(waiter -> Duration.between(waiter.deadline(), now))
              .filter(lag -> !lag.isNegative())
              .max(Duration::compareTo)
              .orElse(Duration.ZERO);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the shards with waiters for which Kafka has to be asked. */
  Set<Integer> toAsk() {
    Set<Integer> shards = find(WatermarkGate::needsEnds);
    shards.removeIf(held::test);
    return shards;
  }

  /** Records that Kafka is being asked for the shard's ends, until {@link #askAgain}. */
  void asking(int shard) {
    change(shard, gate -> gate.asking = true);
  }

  /** Allows Kafka to be asked for the shard's ends again. */
  void askAgain(int shard) {
    change(shard, gate -> gate.asking = false);
  }

  /** Records that Kafka did not answer for the shard. */
  void unanswered(int shard) {
    change(shard, gate -> gate.inDoubt = true);
  }

  /**
   * Records where the payments and closings that count for the shard end.
   *
   * @param time a time before Kafka was asked
   * @return the latest deadline that still waits although everything is stored, or {@code time}
   */
  Instant answered(int shard, Instant time, Map<TopicPartition, Long> ends) {
    List<Instant> ahead = new ArrayList<>(List.of(time));
    letPass(
        shard,
        gate -> {
          if (!gate.asking) {
            return List.of(); // the shard was released and taken over again meanwhile
          }
          gate.inDoubt = false;
          gate.ends = ends;
          gate.endsAsOf = time;
          List<WatermarkGate.Waiter> passed = gate.advance();
          if (!gate.awaitsEnds()) {
            gate.waiters.forEach(waiter -> ahead.add(waiter.deadline()));
          }
          signal();
          return passed;
        });
    return Collections.max(ahead);
  }

  /** Returns whether Kafka did not answer for a shard that has waiters. */
  boolean areInDoubt() {
    return find(gate -> gate.inDoubt && !gate.waiters.isEmpty()).stream()
        .anyMatch(shard -> !held.test(shard));
  }

  /** Returns whether a shard waits for positions that are not stored yet. */
  boolean awaitStored() {
    return !find(WatermarkGate::awaitsEnds).isEmpty();
  }

  /** Waits until anything has changed since this method last returned, at most that long. */
  void awaitChange(Duration patience) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long nanos = patience.toNanos();
      while (!hasChanged && nanos > 0) {
        nanos = changed.awaitNanos(nanos);
      }
      hasChanged = false;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the wait for a change. */
  void wake() {
    locked(this::signal);
  }

  private void signal() {
    hasChanged = true;
    changed.signal();
  }

  private Set<Integer> find(Predicate<WatermarkGate> wanted) {
    Set<Integer> shards = new TreeSet<>();
    locked(
        () ->
            gates.forEach(
                (shard, gate) -> {
                  if (wanted.test(gate)) {
                    shards.add(shard);
                  }
                }));
    return shards;
  }

  private void change(int shard, Consumer<WatermarkGate> change) {
    letPass(
        shard,
        gate -> {
          change.accept(gate);
          return List.of();
        });
  }

  private void letPass(int shard, Function<WatermarkGate, List<WatermarkGate.Waiter>> change) {
    List<WatermarkGate.Waiter> passed;
    Instant watermark;
    lock.lock();
    try {
      WatermarkGate gate = gates.get(shard);
      if (gate == null) {
        return;
      }
      passed = change.apply(gate);
      watermark = gate.watermark;
      if (gate.needsEnds() || gate.inDoubt) {
        signal();
      }
    } finally {
      lock.unlock();
    }
    passed.forEach(waiter -> waiter.then().accept(watermark));
  }

  private void locked(Runnable change) {
    lock.lock();
    try {
      change.run();
    } finally {
      lock.unlock();
    }
  }
}
