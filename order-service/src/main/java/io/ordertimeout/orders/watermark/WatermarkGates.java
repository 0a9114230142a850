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
 * The gates of shards: who waits for the payment watermark of a shard, of which shards the ends are
 * to be asked for, and whom an answer or a stored position lets pass. Asks nobody itself.
 * Thread-safe; waiters are called by whoever lets them pass, with no lock held.
 */
final class WatermarkGates {

  private record Waiter(Instant deadline, Consumer<Instant> then) {}

  /** What is known of one shard; guarded by the lock. */
  private static final class Gate {
    /** Next offset that is not committed in Postgres, by partition of payments and closings. */
    final Map<TopicPartition, Long> stored = new HashMap<>();

    final List<Waiter> waiters = new ArrayList<>();
    Map<TopicPartition, Long> ends = Map.of();
    Instant endsAsOf = Instant.MIN;
    Instant watermark = Instant.MIN;
    boolean asking;
    boolean inDoubt;

    boolean wantsEnds() {
      return !waiters.isEmpty() && ends.isEmpty() && !asking;
    }

    boolean awaitsEnds() {
      return !ends.isEmpty();
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

  private final IntPredicate held;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final Map<Integer, Gate> gates = new HashMap<>();
  private boolean anyNews;

  /**
   * Starts without any shard.
   *
   * @param held whether nobody may pass the shard's gate for now
   */
  WatermarkGates(IntPredicate held) {
    this.held = held;
  }

  /** Opens the gate of a shard; nothing of it is known to be stored yet. */
  void open(int shard) {
    locked(() -> gates.put(shard, new Gate()));
  }

  /** Forgets the shard and whoever waits for it. */
  void close(int shard) {
    locked(
        () -> {
          gates.remove(shard);
          tell();
        });
  }

  /** Notes up to where a partition is stored of the shard of the same number. */
  void stored(TopicPartition partition, long position) {
    letPass(
        partition.partition(),
        gate -> {
          gate.stored.put(partition, position);
          return gate.advance();
        });
  }

  /** Notes up to where partitions of any shard are stored, by whichever instance. */
  void stored(Map<TopicPartition, Long> positions) {
    for (int shard : find(Gate::awaitsEnds)) {
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

  /** Calls back with the watermark of the shard once it has passed the deadline. */
  void whenPassed(int shard, Instant deadline, Consumer<Instant> then) {
    letPass(
        shard,
        gate -> {
          Waiter waiter = new Waiter(deadline, then);
          if (!deadline.isAfter(gate.watermark) && !held.test(shard)) {
            return List.of(waiter);
          }
          gate.waiters.add(waiter);
          return List.of();
        });
  }

  /** For how long the longest waiting deadline of the shard has been held; zero if none is. */
  Duration lag(int shard, Instant now) {
    lock.lock();
    try {
      Gate gate = gates.get(shard);
      return gate == null
          ? Duration.ZERO
          : gate.waiters.stream()
              .map(waiter -> Duration.between(waiter.deadline, now))
              .filter(lag -> !lag.isNegative())
              .max(Duration::compareTo)
              .orElse(Duration.ZERO);
    } finally {
      lock.unlock();
    }
  }

  /** The shards that are waited for and of which neither the ends nor an answer is outstanding. */
  Set<Integer> toAsk() {
    Set<Integer> shards = find(Gate::wantsEnds);
    shards.removeIf(held::test);
    return shards;
  }

  /** Notes that the ends of the shard are asked for, from now until {@link #askAgain}. */
  void asking(int shard) {
    change(shard, gate -> gate.asking = true);
  }

  /** Notes that the ends of the shard may be asked for again. */
  void askAgain(int shard) {
    change(shard, gate -> gate.asking = false);
  }

  /** Notes that the ends of the shard were asked for in vain. */
  void unanswered(int shard) {
    change(shard, gate -> gate.inDoubt = true);
  }

  /**
   * Notes where the payments and closings that count for the shard end.
   *
   * @param time a time before they were asked for
   * @return the latest deadline that waits although everything is stored; the time if none does
   */
  Instant answered(int shard, Instant time, Map<TopicPartition, Long> ends) {
    List<Instant> ahead = new ArrayList<>(List.of(time));
    letPass(
        shard,
        gate -> {
          if (!gate.asking) {
            return List.of(); // it was opened anew meanwhile
          }
          gate.inDoubt = false;
          gate.ends = ends;
          gate.endsAsOf = time;
          List<Waiter> passed = gate.advance();
          if (!gate.awaitsEnds()) {
            gate.waiters.forEach(waiter -> ahead.add(waiter.deadline));
          }
          tell();
          return passed;
        });
    return Collections.max(ahead);
  }

  /** Whether a shard waits of which the ends were asked for in vain. */
  boolean areInDoubt() {
    return find(gate -> gate.inDoubt && !gate.waiters.isEmpty()).stream()
        .anyMatch(shard -> !held.test(shard));
  }

  /** Whether a shard waits for positions that are still to be stored. */
  boolean awaitStored() {
    return !find(Gate::awaitsEnds).isEmpty();
  }

  /** Waits until anything changed since it last returned, at most that long. */
  void awaitNews(Duration patience) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long nanos = patience.toNanos();
      while (!anyNews && nanos > 0) {
        nanos = news.awaitNanos(nanos);
      }
      anyNews = false;
    } finally {
      lock.unlock();
    }
  }

  /** Ends a wait for news. */
  void wake() {
    locked(this::tell);
  }

  private void tell() {
    anyNews = true;
    news.signal();
  }

  private Set<Integer> find(Predicate<Gate> wanted) {
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

  private void change(int shard, Consumer<Gate> change) {
    letPass(
        shard,
        gate -> {
          change.accept(gate);
          return List.of();
        });
  }

  private void letPass(int shard, Function<Gate, List<Waiter>> change) {
    List<Waiter> passed;
    Instant watermark;
    lock.lock();
    try {
      Gate gate = gates.get(shard);
      if (gate == null) {
        return;
      }
      passed = change.apply(gate);
      watermark = gate.watermark;
      if (gate.wantsEnds() || gate.inDoubt) {
        tell();
      }
    } finally {
      lock.unlock();
    }
    passed.forEach(waiter -> waiter.then.accept(watermark));
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
