package io.ordertimeout.orders.relay;

import io.ordertimeout.orders.outbox.OutboxEvent;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** All partitions that events are published to, and the state of their topics. Not thread-safe. */
final class Targets implements Iterable<Target> {

  private final int window;
  private final Map<TopicPartition, Target> targets = new HashMap<>();
  private final Map<String, TopicState> topics = new HashMap<>();

  /**
   * Knows no partition yet.
   *
   * @param window maximum number of events on their way to a partition
   */
  Targets(int window) {
    this.window = window;
  }

  @Override
  public Iterator<Target> iterator() {
    return targets.values().iterator();
  }

  /** Returns the partition of an order's events, as far as the topic is known. */
  Target of(String topic, String orderId) {
    int partition = topic(topic).partition(orderId);
    return targets.computeIfAbsent(
        new TopicPartition(topic, partition), unknown -> new Target(unknown, window));
  }

  Collection<TopicState> topics() {
    return topics.values();
  }

  /** Returns the partitions of a topic. */
  List<Target> of(TopicState topic) {
    return targets.values().stream().filter(target -> topic(target) == topic).toList();
  }

  /** Whether an event may be sent to the partition now. */
  boolean takes(Target target, long nowNanos) {
    return hasLeader(target) && target.takes(nowNanos);
  }

  /** Whether the partition is known not to take events for a while. */
  boolean isBlocked(Target target, long nowNanos) {
    return !hasLeader(target) || target.isBlocked(nowNanos);
  }

  /** Takes the event with which the partition is tried again; null if it is not time. */
  @Nullable OutboxEvent takeProbe(Target target, long nowNanos) {
    return hasLeader(target) ? target.takeProbe(nowNanos, topic(target).seenNanos()) : null;
  }

  /** Requests a look-up of the topic. */
  void wantLookUp(String topic) {
    topic(topic).want();
  }

  /** Requests a look-up of every topic without which events stay left behind. */
  void wantLookUps() {
    for (Target target : this) {
      TopicState topic = topic(target);
      boolean outdated = target.isFailing() && topic.seenNanos() - target.failedAtNanos() <= 0;
      if (target.probe() != null && (outdated || !hasLeader(target))) {
        topic.want();
      }
    }
  }

  /** Whether the last attempt of any partition has failed. */
  boolean isAnyFailing() {
    return targets.values().stream().anyMatch(Target::isFailing);
  }

  /** Whether nothing is on its way, except to blocked partitions. */
  boolean isIdle() {
    long now = System.nanoTime();
    return targets.values().stream()
        .allMatch(target -> target.inFlight() == 0 || target.isBlocked(now));
  }

  boolean hasLeader(Target target) {
    return topic(target).hasLeader(target.partition().partition());
  }

  private TopicState topic(Target target) {
    return topic(target.partition().topic());
  }

  private TopicState topic(String name) {
    return topics.computeIfAbsent(name, unknown -> new TopicState(unknown, System.nanoTime()));
  }
}
