package io.ordertimeout.benchmarks;

import java.util.Locale;
import java.util.function.LongConsumer;

/** Who takes part. Public only because JMH asks for it. */
public enum ContestantKind {
  WHEEL("TimingWheel, single calls", true, 1),
  WHEEL_BATCH("TimingWheel, batches of 512", true, ContestantKind.BATCH),
  AGRONA("Agrona DeadlineTimerWheel + 2 maps", true, 1),
  NETTY("Netty HashedWheelTimer + map", false, 1),
  NETTY_HANDLES("Netty, handles only (cannot cancel by id)", false, 1),
  KAFKA("Kafka SystemTimer + map", false, 1),
  EXECUTOR("ScheduledThreadPoolExecutor + map", false, 1),
  DELAY_QUEUE("DelayQueue + map", false, 1),
  FRONT("ShardedTimers, single calls", false, 1),
  FRONT_BATCH("ShardedTimers, batches of 512", false, ContestantKind.BATCH),
  NOTHING("(the benchmark itself, single)", true, 1),
  NOTHING_BATCH("(the benchmark itself, batches)", true, ContestantKind.BATCH);

  /** As the front's default, 10 ms. */
  static final long DEFAULT_TICK_MILLIS = 10;

  private static final int BATCH = 512;

  private final String title;
  private final boolean simulated;
  private final int batchSize;

  ContestantKind(String title, boolean simulated, int batchSize) {
    this.title = title;
    this.simulated = simulated;
    this.batchSize = batchSize;
  }

  String title() {
    return title;
  }

  /** Whether time is the benchmark's to move. */
  boolean simulated() {
    return simulated;
  }

  /** How many orders it is given in a call. */
  int batchSize() {
    return batchSize;
  }

  /** The most pending timers that a run takes a bearable time with. */
  int mostPending() {
    return this == DELAY_QUEUE ? 10_000 : Integer.MAX_VALUE;
  }

  /** The contestant whose cost is that of the benchmark alone. */
  ContestantKind baseline() {
    return batchSize == 1 ? NOTHING : NOTHING_BATCH;
  }

  /** Whether it is the one that the others are compared with. */
  boolean ours() {
    return switch (this) {
      case WHEEL, WHEEL_BATCH, FRONT, FRONT_BATCH -> true;
      default -> false;
    };
  }

  /** Its name on the command line. */
  String option() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static ContestantKind of(String option) {
    return valueOf(option.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  /**
   * Starts one.
   *
   * @param places how many orders the benchmark keeps at a time
   * @param tickMillis the tick of ours; the others have their own
   * @param expired told what has fired, on whatever thread
   */
  Contestant start(int places, long tickMillis, LongConsumer expired) {
    return switch (this) {
      case WHEEL, WHEEL_BATCH -> new WheelContestant(tickMillis, batchSize > 1, expired);
      case AGRONA -> new AgronaContestant(expired);
      case NETTY -> new NettyContestant(expired);
      case NETTY_HANDLES -> new NettyHandlesContestant(places, expired);
      case KAFKA -> new KafkaContestant(expired);
      case EXECUTOR -> new ExecutorContestant(expired);
      case DELAY_QUEUE -> new DelayQueueContestant(expired);
      case FRONT, FRONT_BATCH -> new FrontContestant(batchSize > 1, expired);
      case NOTHING, NOTHING_BATCH -> new NothingContestant();
    };
  }
}
