package io.ordertimeout.orders.relay;

import io.ordertimeout.orders.outbox.OutboxEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The events of one partition of an output topic, sent in the order of their ids, and those of an
 * order one after the other. After a failure, the queue backs off and then sends one event at a
 * time until Kafka acknowledges one. While nothing is acknowledged, it keeps few events; the others
 * stay in Postgres. Not thread-safe.
 */
final class TargetQueue {

  /** How many events a queue keeps while nothing is acknowledged. */
  static final int BLOCKED_LIMIT = 100;

  /** A partition that acknowledges nothing for this long does not count as working. */
  private static final Duration STALLED_AFTER = Duration.ofSeconds(2);

  private static final Duration MIN_BACK_OFF = Duration.ofMillis(500);
  private static final Duration MAX_BACK_OFF = Duration.ofSeconds(4);

  private final TopicPartition target;
  private final int window;
  private Deque<OutboxEvent> waiting = new ArrayDeque<>();

  /** The orders whose event is sent but not acknowledged. */
  private final Set<String> unacknowledged = new HashSet<>();

  /** Events that have failed; they are sent again once the outcome of the others is known. */
  private final List<OutboxEvent> failed = new ArrayList<>();

  private long progressNanos;
  private boolean failing;
  private boolean probing;
  private boolean incomplete;
  private long failedAtNanos;
  private Duration backOff = MIN_BACK_OFF;

  /**
   * Creates an empty queue.
   *
   * @param window maximum number of events that are sent and not acknowledged
   */
  TargetQueue(TopicPartition target, int window) {
    this.target = target;
    this.window = window;
  }

  TopicPartition target() {
    return target;
  }

  /**
   * Adds an event, unless the queue is blocked and full; the queue is then {@linkplain
   * #isIncomplete() incomplete}.
   */
  boolean add(OutboxEvent event, long nowNanos) {
    if (waiting.size() >= BLOCKED_LIMIT && isBlocked(nowNanos)) {
      incomplete = true;
      return false;
    }
    waiting.add(event);
    return true;
  }

  /**
   * Takes the next event that may be sent now; null if none may.
   *
   * @param leaderSeenNanos when the partition was last seen with a leader
   */
  @Nullable OutboxEvent take(long nowNanos, long leaderSeenNanos) {
    OutboxEvent next = waiting.peek();
    if (next == null || !failed.isEmpty() || unacknowledged.contains(next.orderId())) {
      return null;
    }
    boolean allowed =
        failing
            ? unacknowledged.isEmpty()
                && nowNanos - failedAtNanos >= backOff.toNanos()
                && leaderSeenNanos - failedAtNanos > 0
            : unacknowledged.size() < window;
    if (!allowed) {
      return null;
    }
    if (unacknowledged.isEmpty()) {
      progressNanos = nowNanos;
    }
    probing = failing;
    unacknowledged.add(next.orderId());
    return waiting.poll();
  }

  /** Records that Kafka has acknowledged an event that was taken. */
  void acknowledged(OutboxEvent event, long nowNanos) {
    unacknowledged.remove(event.orderId());
    progressNanos = nowNanos;
    if (failed.isEmpty()) {
      failing = false;
      backOff = MIN_BACK_OFF;
    } else {
      requeue();
    }
  }

  /** Records that an event that was taken has failed, because of its partition or topic. */
  void failed(OutboxEvent event, long nowNanos) {
    unacknowledged.remove(event.orderId());
    failed.add(event);
    if (probing && backOff.compareTo(MAX_BACK_OFF) < 0) {
      backOff = backOff.multipliedBy(2);
    }
    fail(nowNanos);
    requeue();
  }

  /** Records that an event that was taken has failed, because of itself; it is dropped. */
  void rejected(OutboxEvent event, long nowNanos) {
    unacknowledged.remove(event.orderId());
    progressNanos = nowNanos;
    requeue();
  }

  /** Records that nothing can be sent, because the partition has no leader or does not exist. */
  void fail(long nowNanos) {
    failing = true;
    failedAtNanos = nowNanos;
  }

  private void requeue() {
    if (!unacknowledged.isEmpty() || failed.isEmpty()) {
      return;
    }
    failed.sort(Comparator.comparingLong(OutboxEvent::id));
    Deque<OutboxEvent> next = new ArrayDeque<>(failed.size() + waiting.size());
    if (probing) {
      // The event itself may be what fails, so the next attempt is made with another order's.
      Set<String> orders = failed.stream().map(OutboxEvent::orderId).collect(Collectors.toSet());
      waiting.stream().filter(event -> !orders.contains(event.orderId())).forEach(next::add);
      next.addAll(failed);
      waiting.stream().filter(event -> orders.contains(event.orderId())).forEach(next::add);
    } else {
      next.addAll(failed);
      next.addAll(waiting);
    }
    waiting = next;
    failed.clear();
  }

  /**
   * Removes what a blocked queue does not keep: events beyond the limit, and events that somebody
   * else publishes by now.
   */
  List<OutboxEvent> shed(long nowNanos, Predicate<OutboxEvent> isOwn) {
    if (!isBlocked(nowNanos)) {
      return List.of();
    }
    List<OutboxEvent> shed = new ArrayList<>();
    int kept = 0;
    for (Iterator<OutboxEvent> events = waiting.iterator(); events.hasNext(); ) {
      OutboxEvent event = events.next();
      boolean own = isOwn.test(event);
      if (own && kept < BLOCKED_LIMIT) {
        kept++;
      } else {
        incomplete |= own;
        shed.add(event);
        events.remove();
      }
    }
    return shed;
  }

  /** Removes all events that are not sent, for other queues. */
  List<OutboxEvent> takeWaiting() {
    List<OutboxEvent> all = List.copyOf(waiting);
    waiting.clear();
    return all;
  }

  /** Removes all events that are not sent, and those that have failed. */
  List<OutboxEvent> takeUnsent() {
    List<OutboxEvent> all = new ArrayList<>(failed);
    failed.clear();
    all.addAll(takeWaiting());
    return all;
  }

  /** The number of events that are not sent. */
  int size() {
    return waiting.size();
  }

  /** Whether there is nothing to send or to wait for. */
  boolean isEmpty() {
    return waiting.isEmpty() && unacknowledged.isEmpty() && failed.isEmpty();
  }

  /** Whether the last attempt has failed. */
  boolean isFailing() {
    return failing;
  }

  /** When the last attempt failed. */
  long failedAtNanos() {
    return failedAtNanos;
  }

  /** Whether the last attempt has failed, or nothing has been acknowledged for a while. */
  boolean isBlocked(long nowNanos) {
    return failing
        || (!unacknowledged.isEmpty() && nowNanos - progressNanos > STALLED_AFTER.toNanos());
  }

  /** Whether events were left in Postgres since the last {@link #complete}. */
  boolean isIncomplete() {
    return incomplete;
  }

  /** Records that all events of the outbox are about to be offered. */
  void complete() {
    incomplete = false;
  }
}
