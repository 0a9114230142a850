package io.ordertimeout.orders.relay;

import io.ordertimeout.orders.outbox.OutboxEvent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The queues of all partitions that events are published to, and the state of their topics. Not
 * thread-safe.
 */
final class TargetQueues implements Iterable<TargetQueue> {

  private final int window;
  private final Map<TopicPartition, TargetQueue> queues = new HashMap<>();
  private final Map<String, TopicState> topics = new HashMap<>();

  /**
   * Creates no queue yet.
   *
   * @param window maximum number of events of a queue that are sent and not acknowledged
   */
  TargetQueues(int window) {
    this.window = window;
  }

  @Override
  public Iterator<TargetQueue> iterator() {
    return queues.values().iterator();
  }

  Collection<TopicState> topics() {
    return topics.values();
  }

  /** Requests a look-up of the topic. */
  void wantLookUp(String topic) {
    topic(topic).want();
  }

  /** Requests a look-up of every topic without which no event of a queue can be sent. */
  void wantLookUps() {
    for (TargetQueue queue : this) {
      TopicState topic = topic(queue);
      boolean outdated = queue.isFailing() && topic.seenNanos() - queue.failedAtNanos() <= 0;
      if (queue.size() > 0 && (outdated || !hasLeader(queue))) {
        topic.want();
      }
    }
  }

  /**
   * Adds an event to the queue of its partition.
   *
   * @return whether the queue keeps it; otherwise it stays in Postgres
   */
  boolean add(String topicName, OutboxEvent event) {
    TopicState topic = topic(topicName);
    int partition = topic.partition(event.orderId().getBytes(StandardCharsets.UTF_8));
    return queues
        .computeIfAbsent(
            new TopicPartition(topicName, partition), target -> new TargetQueue(target, window))
        .add(event, System.nanoTime());
  }

  /** Takes the queue's next event that may be sent now; null if none may. */
  @Nullable OutboxEvent take(TargetQueue queue, long nowNanos) {
    TopicState topic = topic(queue);
    return topic.hasLeader(queue.target().partition())
        ? queue.take(nowNanos, topic.seenNanos())
        : null;
  }

  /** Removes all events of a topic that are not sent, by id. */
  List<OutboxEvent> takeWaiting(TopicState topic) {
    List<OutboxEvent> events = new ArrayList<>();
    for (TargetQueue queue : this) {
      if (topic(queue) == topic) {
        events.addAll(queue.takeWaiting());
      }
    }
    events.sort(Comparator.comparingLong(OutboxEvent::id));
    return events;
  }

  /** Returns the queues of a topic with events that cannot be sent for want of a leader. */
  List<TargetQueue> withoutLeader(TopicState topic) {
    return queues.values().stream()
        .filter(queue -> topic(queue) == topic && queue.size() > 0 && !hasLeader(queue))
        .toList();
  }

  /** The number of events that are not sent, in queues that are not blocked. */
  int size() {
    long now = System.nanoTime();
    return queues.values().stream()
        .filter(queue -> !queue.isBlocked(now))
        .mapToInt(TargetQueue::size)
        .sum();
  }

  /** Whether the last attempt of any queue has failed. */
  boolean isAnyFailing() {
    return queues.values().stream().anyMatch(TargetQueue::isFailing);
  }

  /** Whether there is nothing to send or to wait for, except in blocked queues. */
  boolean isEmpty() {
    long now = System.nanoTime();
    return queues.values().stream().allMatch(queue -> queue.isEmpty() || queue.isBlocked(now));
  }

  /** Removes queues that are not used any more. */
  void removeUnused() {
    queues.values().removeIf(queue -> queue.isEmpty() && !queue.isIncomplete());
  }

  private boolean hasLeader(TargetQueue queue) {
    return topic(queue).hasLeader(queue.target().partition());
  }

  private TopicState topic(TargetQueue queue) {
    return topic(queue.target().topic());
  }

  private TopicState topic(String name) {
    return topics.computeIfAbsent(name, unknown -> new TopicState(unknown, System.nanoTime()));
  }
}
