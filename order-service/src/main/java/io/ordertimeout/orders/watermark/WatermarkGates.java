package io.ordertimeout.orders.watermark;

import io.ordertimeout.orders.order.Watermark;
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
  private long questions;
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

  /** Discards the gate of a shard and its waiters. */
  void close(int shard) {
    List<WatermarkGate.Waiter> discarded = new ArrayList<>();
    locked(
        () -> {
          WatermarkGate gate = gates.remove(shard);
          if (gate != null) {
            gate.waiters().forEach(discarded::add);
          }
          signal();
        });
    discarded.forEach(waiter -> waiter.discarded().run());
  }

  /**
   * Records up to where partitions are stored, each for the shard of its number; lets all waiters
   * pass at the same time.
   */
  void stored(Map<TopicPartition, Long> positions) {
    List<Passed> passed = new ArrayList<>();
    locked(
        () -> {
          positions.forEach(
              (partition, position) -> {
                WatermarkGate gate = gates.get(partition.partition());
                if (gate != null) {
                  gate.stored.put(partition, position);
                }
              });
          for (WatermarkGate gate : gates.values()) {
            if (gate.awaitsEnds()) {
              passed.addAll(advance(gate));
              signalIfNeeded(gate);
            }
          }
        });
    passed.forEach(Passed::call);
  }

  /** Records up to where partitions that gates await are stored, by any instance. */
  void storedByOthers(Map<TopicPartition, Long> positions) {
    for (int shard : find(WatermarkGate::awaitsEnds)) {
      releaseWaiters(
          shard,
          gate -> {
            for (TopicPartition partition : gate.awaitedPartitions()) {
              Long position = positions.get(partition);
              if (position != null) {
                gate.stored.put(partition, position);
              }
            }
            return advance(gate);
          });
    }
  }

  /**
   * Calls back with a watermark of the shard that was asked for after this call: one that has
   * passed the deadline, or one that shows the deadline to be far ahead.
   *
   * @param discarded called instead if the shard has no gate, or it is discarded before
   */
  void whenPassed(int shard, Instant deadline, Consumer<Watermark> then, Runnable discarded) {
    boolean waits =
        change(shard, gate -> gate.add(new WatermarkGate.Waiter(deadline, then, discarded)));
    if (!waits) {
      discarded.run();
    }
  }

  /**
   * Returns how long the oldest waiting deadline has been waiting for the watermark; zero if none
   * is, or if a pause or hold keeps the gate closed.
   */
  Duration lag(int shard, Instant now) {
    if (held.test(shard)) {
      return Duration.ZERO;
    }
    lock.lock();
    try {
      WatermarkGate gate = gates.get(shard);
      return gate == null
          ? Duration.ZERO
          : gate.waiters()
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

  /**
   * Records that Kafka is about to be asked for the shard's ends, and not again until {@link
   * #askAgain}.
   *
   * @return the number of the question; its answer counts only while the shard stays open
   */
  long asking(int shard) {
    lock.lock();
    try {
      long number = ++questions;
      WatermarkGate gate = gates.get(shard);
      if (gate != null) {
        gate.ask(number);
      }
      return number;
    } finally {
      lock.unlock();
    }
  }

  /** Allows Kafka to be asked for the shard's ends again. */
  void askAgain(int shard, long question) {
    change(shard, question, gate -> gate.question = 0);
  }

  /** Records that Kafka did not answer for the shard. */
  void unanswered(int shard, long question) {
    change(shard, question, gate -> gate.inDoubt = true);
  }

  /**
   * Records where the payments and closures that count for the shard end.
   *
   * @return the latest deadline that still waits although everything is stored, or the answer's
   *     time
   */
  Instant answered(int shard, long question, Watermark answer) {
    List<Instant> ahead = new ArrayList<>(List.of(answer.time()));
    releaseWaiters(
        shard,
        gate -> {
          if (gate.question != question) {
            return List.of(); // the shard was released and taken over again meanwhile
          }
          gate.inDoubt = false;
          gate.answer = answer;
          List<Passed> passed = advance(gate);
          if (!gate.awaitsEnds()) {
            gate.latestAsked().ifPresent(ahead::add);
          }
          signal();
          return passed;
        });
    return Collections.max(ahead);
  }

  /** Returns whether Kafka did not answer for a shard that has waiters. */
  boolean areInDoubt() {
    return find(gate -> gate.inDoubt && gate.hasWaiters()).stream()
        .anyMatch(shard -> !held.test(shard));
  }

  /** Returns whether a shard waits for positions that are not stored yet. */
  boolean isAwaitingStorage() {
    return !find(WatermarkGate::awaitsEnds).isEmpty();
  }

  /** Returns whether a shard waits for positions that other shards, perhaps elsewhere, store. */
  boolean awaitOtherShards() {
    return !find(WatermarkGate::awaitsAllPartitions).isEmpty();
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

  private boolean change(int shard, Consumer<WatermarkGate> change) {
    return releaseWaiters(
        shard,
        gate -> {
          change.accept(gate);
          return List.of();
        });
  }

  private void change(int shard, long question, Consumer<WatermarkGate> change) {
    change(
        shard,
        gate -> {
          if (gate.question == question) {
            change.accept(gate);
          }
        });
  }

  /** A waiter, and the watermark that has passed it. */
  private record Passed(WatermarkGate.Waiter waiter, Watermark watermark) {
    void call() {
      waiter.then().accept(watermark);
    }
  }

  private static List<Passed> advance(WatermarkGate gate) {
    Watermark watermark = gate.answer;
    return watermark == null
        ? List.of()
        : gate.advance().stream().map(waiter -> new Passed(waiter, watermark)).toList();
  }

  /** Changes a gate and calls the waiters that the change lets pass; false if there is no gate. */
  private boolean releaseWaiters(int shard, Function<WatermarkGate, List<Passed>> change) {
    List<Passed> passed;
    lock.lock();
    try {
      WatermarkGate gate = gates.get(shard);
      if (gate == null) {
        return false;
      }
      passed = change.apply(gate);
      signalIfNeeded(gate);
    } finally {
      lock.unlock();
    }
    passed.forEach(Passed::call);
    return true;
  }

  private void signalIfNeeded(WatermarkGate gate) {
    if (gate.needsEnds() || gate.inDoubt) {
      signal();
    }
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
