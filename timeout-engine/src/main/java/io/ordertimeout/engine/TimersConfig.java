package io.ordertimeout.engine;

import java.time.Duration;

/**
 * The settings of {@link ShardedTimers}.
 *
 * @param threadName the name of the worker thread
 * @param tick the resolution: a timer is due at the first multiple of the tick at or after its
 *     deadline; whole milliseconds, 1 ms to 1 day
 * @param batchSize the maximum number of timers in one {@link DueBatch}, at least 1
 * @param queueCapacity the number of commands that may be queued before callers block, at least 1,
 *     rounded up to a power of two. A command carries up to {@value ShardedTimers#CHUNK} timers of
 *     16 bytes each
 * @param retryDelay how long a shard waits after its batch was rejected before it delivers again, 1
 *     ms to 1 day; measured on the {@link TimerClock}
 * @param lateAfter how far past its deadline a timer must be delivered to count as late, 1 ms to 1
 *     day
 * @param maxPending the maximum number of pending timers in all shards together, at least 1; {@code
 *     Long.MAX_VALUE} for no limit
 */
public record TimersConfig(
    String threadName,
    Duration tick,
    int batchSize,
    int queueCapacity,
    Duration retryDelay,
    Duration lateAfter,
    long maxPending) {

  /**
   * Validates the settings.
   *
   * @param threadName the name of the worker thread
   * @param tick the resolution
   * @param batchSize the maximum number of timers in one {@link DueBatch}
   * @param queueCapacity the number of commands that may be queued before callers block
   * @param retryDelay how long a shard waits after its batch was rejected
   * @param lateAfter how far past its deadline a timer must be delivered to count as late
   * @param maxPending the maximum number of pending timers in all shards together
   * @throws IllegalArgumentException if a value is out of range
   */
  public TimersConfig {
    if (threadName.isBlank()) {
      throw new IllegalArgumentException("threadName must not be blank: '" + threadName + "'");
    }
    checkDelay("tick", tick);
    if (!tick.equals(Duration.ofMillis(tick.toMillis()))) {
      throw new IllegalArgumentException("tick must be whole milliseconds: " + tick);
    }
    if (batchSize < 1) {
      throw new IllegalArgumentException("batchSize must be at least 1: " + batchSize);
    }
    if (queueCapacity < 1 || queueCapacity > MAX_QUEUE_CAPACITY) {
      throw new IllegalArgumentException(
          "queueCapacity must be 1 to " + MAX_QUEUE_CAPACITY + ": " + queueCapacity);
    }
    checkDelay("retryDelay", retryDelay);
    checkDelay("lateAfter", lateAfter);
    if (maxPending < 1) {
      throw new IllegalArgumentException("maxPending must be at least 1: " + maxPending);
    }
  }

  private static final int MAX_QUEUE_CAPACITY = 1 << 20;

  private static void checkDelay(String name, Duration delay) {
    if (delay.compareTo(Duration.ofMillis(1)) < 0 || delay.compareTo(Duration.ofDays(1)) > 0) {
      throw new IllegalArgumentException(name + " must be 1 ms to 1 day: " + delay);
    }
  }

  /**
   * Returns settings that suit most uses: a tick of 10 ms, batches of 500, a queue of 4096
   * commands, a retry delay of 100 ms, late after 1 s, and no limit on pending timers.
   *
   * @param threadName the name of the worker thread
   * @return the settings
   */
  public static TimersConfig defaults(String threadName) {
    return new TimersConfig(
        threadName,
        Duration.ofMillis(10),
        500,
        4096,
        Duration.ofMillis(100),
        Duration.ofSeconds(1),
        Long.MAX_VALUE);
  }

  /**
   * Returns a copy of these settings with a different limit on pending timers.
   *
   * @param maxPending the maximum number of pending timers, at least 1
   * @return the settings
   * @throws IllegalArgumentException if the limit is out of range
   */
  public TimersConfig withMaxPending(long maxPending) {
    return new TimersConfig(
        threadName, tick, batchSize, queueCapacity, retryDelay, lateAfter, maxPending);
  }
}
