package io.ordertimeout.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;

/**
 * The settings of {@link ShardedTimers}. A {@link #builder(String) builder} names each of them:
 *
 * <pre>{@code
 * TimersConfig config =
 *     TimersConfig.builder("request-timeouts").tick(Duration.ofMillis(1)).batchSize(2_000).build();
 * }</pre>
 *
 * @param threadFactory creates the worker thread; called again only if that thread cannot be
 *     started
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
 */
public record TimersConfig(
    ThreadFactory threadFactory,
    Duration tick,
    int batchSize,
    int queueCapacity,
    Duration retryDelay,
    Duration lateAfter) {

  /**
   * Validates the settings.
   *
   * @param threadFactory creates the worker thread
   * @param tick the resolution
   * @param batchSize the maximum number of timers in one {@link DueBatch}
   * @param queueCapacity the number of commands that may be queued before callers block
   * @param retryDelay how long a shard waits after its batch was rejected
   * @param lateAfter how far past its deadline a timer must be delivered to count as late
   * @throws IllegalArgumentException if a value is out of range
   */
  public TimersConfig {
    Objects.requireNonNull(threadFactory, "threadFactory");
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
  }

  private static final int MAX_QUEUE_CAPACITY = 1 << 20;

  private static void checkDelay(String name, Duration delay) {
    if (delay.compareTo(Duration.ofMillis(1)) < 0 || delay.compareTo(Duration.ofDays(1)) > 0) {
      throw new IllegalArgumentException(name + " must be 1 ms to 1 day: " + delay);
    }
  }

  /**
   * Returns settings that suit most uses: a tick of 10 ms, batches of 500, a queue of 4096
   * commands, a retry delay of 100 ms, and late after 1 s.
   *
   * @param threadName the name of the worker thread, a daemon
   * @return the settings
   * @throws IllegalArgumentException if the name is blank
   */
  public static TimersConfig defaults(String threadName) {
    return builder(threadName).build();
  }

  /**
   * Returns a builder with the {@link #defaults}.
   *
   * @param threadName the name of the worker thread, a daemon
   * @return the builder
   * @throws IllegalArgumentException if the name is blank
   */
  public static Builder builder(String threadName) {
    if (threadName.isBlank()) {
      throw new IllegalArgumentException("threadName must not be blank: '" + threadName + "'");
    }
    return builder(
        worker -> {
          Thread thread = new Thread(worker, threadName);
          thread.setDaemon(true);
          return thread;
        });
  }

  /**
   * Returns a builder with the {@link #defaults} and a thread of the caller's choice.
   *
   * @param threadFactory creates the worker thread
   * @return the builder
   */
  public static Builder builder(ThreadFactory threadFactory) {
    return new Builder(threadFactory);
  }

  /** A builder of settings. A setting that is not set has its default. Not thread-safe. */
  public static final class Builder {

    private final ThreadFactory threadFactory;
    private Duration tick = Duration.ofMillis(10);
    private int batchSize = 500;
    private int queueCapacity = 4096;
    private Duration retryDelay = Duration.ofMillis(100);
    private Duration lateAfter = Duration.ofSeconds(1);

    private Builder(ThreadFactory threadFactory) {
      this.threadFactory = threadFactory;
    }

    /**
     * Sets {@link TimersConfig#tick()}.
     *
     * @param value the resolution
     * @return this builder
     */
    public Builder tick(Duration value) {
      tick = value;
      return this;
    }

    /**
     * Sets {@link TimersConfig#batchSize()}.
     *
     * @param value the maximum number of timers in one {@link DueBatch}
     * @return this builder
     */
    public Builder batchSize(int value) {
      batchSize = value;
      return this;
    }

    /**
     * Sets {@link TimersConfig#queueCapacity()}.
     *
     * @param value the number of commands that may be queued before callers block
     * @return this builder
     */
    public Builder queueCapacity(int value) {
      queueCapacity = value;
      return this;
    }

    /**
     * Sets {@link TimersConfig#retryDelay()}.
     *
     * @param value how long a shard waits after its batch was rejected
     * @return this builder
     */
    public Builder retryDelay(Duration value) {
      retryDelay = value;
      return this;
    }

    /**
     * Sets {@link TimersConfig#lateAfter()}.
     *
     * @param value how far past its deadline a timer must be delivered to count as late
     * @return this builder
     */
    public Builder lateAfter(Duration value) {
      lateAfter = value;
      return this;
    }

    /**
     * Validates the settings and returns them.
     *
     * @return the settings
     * @throws IllegalArgumentException if a value is out of range
     */
    public TimersConfig build() {
      return new TimersConfig(threadFactory, tick, batchSize, queueCapacity, retryDelay, lateAfter);
    }
  }
}
