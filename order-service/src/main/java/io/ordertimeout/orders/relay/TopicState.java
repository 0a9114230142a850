package io.ordertimeout.orders.relay;

import io.ordertimeout.orders.platform.kafka.PartitionLeaders.TopicLeaders;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The state of an output topic's partitions as of the latest look-up. Not thread-safe. */
final class TopicState {

  private static final Duration BETWEEN_LOOK_UPS = Duration.ofMillis(500);

  private final String name;
  private @Nullable TopicLeaders leaders;
  private long seenNanos;
  private boolean wanted = true;
  private boolean lookingUp;
  private long nextLookUpNanos;

  TopicState(String name, long nowNanos) {
    this.name = name;
    this.nextLookUpNanos = nowNanos;
  }

  String name() {
    return name;
  }

  /** Requests another look-up. */
  void want() {
    wanted = true;
  }

  /** Returns whether a look-up has to be started now, and records that it is. */
  boolean startLookUp(long nowNanos) {
    if (!wanted || lookingUp || nowNanos - nextLookUpNanos < 0) {
      return false;
    }
    wanted = false;
    lookingUp = true;
    return true;
  }

  /**
   * Records the end of a look-up.
   *
   * @param found its result; null if Kafka did not answer, which says nothing about the topic
   */
  void lookedUp(long startNanos, long nowNanos, @Nullable TopicLeaders found) {
    lookingUp = false;
    nextLookUpNanos = nowNanos + BETWEEN_LOOK_UPS.toNanos();
    if (found != null) {
      leaders = found;
      seenNanos = startNanos;
    }
  }

  /** When the topic was last looked up. */
  long seenNanos() {
    return seenNanos;
  }

  /** Whether the topic existed when it was last looked up. */
  boolean isKnown() {
    return leaders != null && leaders.exists();
  }

  /** The number of its partitions; 1 while it is not known. */
  int count() {
    return leaders == null || !leaders.exists() ? 1 : leaders.count();
  }

  /** The partition of an order's events; 0 while the topic is not known. */
  int partition(String orderId) {
    return leaders == null || !leaders.exists() ? 0 : leaders.partition(orderId);
  }

  boolean hasLeader(int partition) {
    return leaders != null && leaders.withLeader().contains(partition);
  }
}
