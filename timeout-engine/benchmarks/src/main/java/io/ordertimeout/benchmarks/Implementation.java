package io.ordertimeout.benchmarks;

import java.util.Locale;
import java.util.function.LongConsumer;

/** The timer implementations that are compared. Public only because JMH requires it. */
public enum Implementation {
  WHEEL("TimingWheel, single calls", true, 1),
  WHEEL_BATCH("TimingWheel, batches of 512", true, Implementation.BATCH),
  AGRONA("Agrona DeadlineTimerWheel + 2 maps", true, 1),
  NETTY("Netty HashedWheelTimer + map", false, 1),
  NETTY_HANDLES("Netty, handles only (cannot cancel by id)", false, 1),
  KAFKA("Kafka SystemTimer + map", false, 1),
  EXECUTOR("ScheduledThreadPoolExecutor + map", false, 1),
  DELAY_QUEUE("DelayQueue + map", false, 1),
  SHARDED("ShardedTimers, single calls", false, 1),
  SHARDED_BATCH("ShardedTimers, batches of 512", false, Implementation.BATCH),
  NO_OP("(the benchmark itself, single)", true, 1),
  NO_OP_BATCH("(the benchmark itself, batches)", true, Implementation.BATCH);

  /** The default tick of {@code ShardedTimers}, 10 ms. */
  static final long DEFAULT_TICK_MILLIS = 10;

  private static final int BATCH = 512;

  private final String title;
  private final boolean simulated;
  private final int batchSize;

  Implementation(String title, boolean simulated, int batchSize) {
    this.title = title;
    this.simulated = simulated;
    this.batchSize = batchSize;
  }

  String title() {
    return title;
  }

  /** Returns whether the benchmark controls the time. */
  boolean simulated() {
    return simulated;
  }

  /** Returns how many orders are passed per call. */
  int batchSize() {
    return batchSize;
  }

  /** Returns the maximum number of pending timers for which a run takes an acceptable time. */
  int maxPending() {
    return this == DELAY_QUEUE ? 10_000 : Integer.MAX_VALUE;
  }

  /** Returns the no-op implementation, whose cost is that of the benchmark itself. */
  Implementation baseline() {
    return batchSize == 1 ? NO_OP : NO_OP_BATCH;
  }

  /** Returns whether this is a type of this engine, with which the others are compared. */
  boolean isOurs() {
    return switch (this) {
      case WHEEL, WHEEL_BATCH, SHARDED, SHARDED_BATCH -> true;
      default -> false;
    };
  }

  /** Returns the name on the command line. */
  String option() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static Implementation of(String option) {
    return valueOf(option.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  /**
   * Starts the implementation.
   *
   * @param places the number of orders that the benchmark keeps at a time
   * @param tickMillis the tick of this engine's types; the others have their own
   * @param expired receives the ids of expired timers on any thread
   */
  TimerAdapter start(int places, long tickMillis, LongConsumer expired) {
    return switch (this) {
      case WHEEL, WHEEL_BATCH -> new TimingWheelAdapter(tickMillis, batchSize > 1, expired);
      case AGRONA -> new AgronaAdapter(expired);
      case NETTY -> new NettyAdapter(expired);
      case NETTY_HANDLES -> new NettyHandlesAdapter(places, expired);
      case KAFKA -> new KafkaAdapter(expired);
      case EXECUTOR -> new ExecutorAdapter(expired);
      case DELAY_QUEUE -> new DelayQueueAdapter(expired);
      case SHARDED, SHARDED_BATCH -> new ShardedTimersAdapter(batchSize > 1, expired);
      case NO_OP, NO_OP_BATCH -> new NoOpAdapter();
    };
  }
}
