package io.ordertimeout.orders.shard;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.engine.ShardedTimers;
import io.ordertimeout.engine.TimersConfig;
import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.expiry.Expiry;
import io.ordertimeout.orders.order.PendingOrder;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.readback.ReadBack;
import io.ordertimeout.orders.relay.OutboxRelay;
import io.ordertimeout.orders.suspension.Suspensions;
import io.ordertimeout.orders.watermark.PaymentWatermark;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * The shards that this instance owns, because the partition of that number of all input topics is
 * assigned to it, or the one that a shard without a partition belongs to. Each owned shard has a
 * timing wheel, rebuilt from Postgres, whose due orders go to the expiry. Thread-safe.
 */
@Component
public class Shards implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(Shards.class);
  private static final int COMMAND_QUEUE = 1_024;
  private static final Duration LATE_AFTER = Duration.ofSeconds(1);

  private final DatabaseClock clock;
  private final ShardedTimers timers;
  private final ShardRebuild rebuild;
  private final PaymentWatermark watermark;
  private final Suspensions suspensions;
  private final OutboxRelay relay;
  private final ReadBack readBack;
  private final MeterRegistry meters;
  private final Map<Integer, Ownership> owned = new ConcurrentHashMap<>();
  private volatile Set<Integer> denied = Set.of();
  private volatile boolean running;

  /** The ownership of a shard, with what exists for the shard only while it is owned. */
  public static final class Ownership {

    private final int shard;
    private volatile ShardRebuild.Progress rebuild;
    private final List<Meter> meters;

    private Ownership(int shard, ShardRebuild.Progress rebuild, List<Meter> meters) {
      this.shard = shard;
      this.rebuild = rebuild;
      this.meters = meters;
    }
  }

  Shards(
      Expiry expiry,
      ShardRebuild rebuild,
      PaymentWatermark watermark,
      Suspensions suspensions,
      OutboxRelay relay,
      ReadBack readBack,
      DatabaseClock clock,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.clock = clock;
    this.rebuild = rebuild;
    this.watermark = watermark;
    this.suspensions = suspensions;
    this.relay = relay;
    this.readBack = readBack;
    this.meters = meters;
    this.timers =
        new ShardedTimers(
            TimersConfig.builder("timing-wheel")
                .tick(properties.wheel().tick())
                .batchSize(properties.expiry().batchSize())
                .queueCapacity(COMMAND_QUEUE)
                .retryDelay(properties.expiry().retryDelay())
                .lateAfter(LATE_AFTER)
                .build(),
            this::wheelTimeMillis,
            batch -> expiry.expire(batch, this::arm));
    clock.onChange(timers::clockChanged);
    clock.onSetBack(this::rebuildAll);
    Gauge.builder("order.timeout.owned.shards", this, shards -> shards.confirmed().size())
        .description("Number of shards that this instance owns")
        .register(meters);
  }

  /**
   * Acquires the shard. Its wheel serves at once, while it is rebuilt in the background. An earlier
   * ownership of the shard ends.
   *
   * @return the ownership, with which the shard is released
   */
  public synchronized Ownership acquire(int shard) {
    Ownership earlier = owned.get(shard);
    if (earlier != null) {
      release(earlier);
    }
    watermark.open(shard);
    timers.openForLoading(shard);
    relay.adopt(shard);
    readBack.adopt(shard);
    Ownership ownership =
        new Ownership(shard, rebuild.start(shard, timers, clock.now()), register(shard));
    owned.put(shard, ownership);
    return ownership;
  }

  /** Rebuilds all wheels: what was armed by a clock that was ahead would come late. */
  private synchronized void rebuildAll() {
    owned.forEach(
        (shard, ownership) -> {
          ownership.rebuild.cancel();
          timers.drop(shard);
          watermark.close(shard);
          watermark.open(shard);
          timers.openForLoading(shard);
          ownership.rebuild = rebuild.start(shard, timers, clock.now());
        });
  }

  /**
   * Releases a shard and drops its wheel; decisions that have started may still finish. Does
   * nothing if the shard has been acquired again since.
   */
  public synchronized void release(Ownership ownership) {
    int shard = ownership.shard;
    if (!owned.remove(shard, ownership)) {
      return;
    }
    ownership.rebuild.cancel();
    ownership.meters.forEach(meters::remove);
    timers.drop(shard);
    watermark.close(shard);
    relay.abandon(shard);
    readBack.abandon(shard);
    log.info("Released shard {}", shard);
  }

  /**
   * Records that all records below the positions are stored in Postgres.
   *
   * @param positions by partition of settling topics
   */
  public void stored(Map<TopicPartition, Long> positions) {
    watermark.stored(positions);
  }

  /** Whether due orders wait for events of settling topics that are in Kafka and not stored yet. */
  public boolean isAwaitingStorage() {
    return watermark.isAwaitingStorage();
  }

  /** Arms orders at their next stages; ignores orders of shards that are not owned. */
  public void arm(List<PendingOrder> orders) {
    byShard(orders)
        .forEach(
            (shard, ofShard) ->
                arm(
                    shard,
                    ofShard.stream().mapToLong(PendingOrder::id).toArray(),
                    ofShard.stream().mapToLong(PendingOrder::stageMillis).toArray(),
                    ofShard.size()));
  }

  /** Disarms orders that are no longer pending. */
  public void disarm(List<PendingOrder> orders) {
    byShard(orders)
        .forEach(
            (shard, ofShard) ->
                timers.cancel(
                    shard, ofShard.stream().mapToLong(PendingOrder::id).toArray(), ofShard.size()));
  }

  /** The owned shards, ascending. */
  public Set<Integer> owned() {
    return new TreeSet<>(owned.keySet());
  }

  /** Records which of the owned shards the group has not assigned to this instance. */
  public void deny(Set<Integer> shards) {
    denied = Set.copyOf(shards);
  }

  /** The owned shards that the group has not assigned to this instance, when it was last asked. */
  public Set<Integer> denied() {
    Set<Integer> both = owned();
    both.retainAll(denied);
    return both;
  }

  /** The owned shards, ascending, except those that the group has not assigned to this instance. */
  public Set<Integer> confirmed() {
    Set<Integer> confirmed = owned();
    confirmed.removeAll(denied);
    return confirmed;
  }

  /** The owned shards whose wheels are still being rebuilt, ascending. */
  public Set<Integer> rebuilding() {
    return owned.entrySet().stream()
        .filter(entry -> !entry.getValue().rebuild.isDone())
        .map(Map.Entry::getKey)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * The status of an owned shard.
   *
   * @param pending number of orders in its wheel
   * @param rebuilding whether its wheel is still being rebuilt
   * @param watermarkLag how long its oldest due order has been waiting for the payment watermark
   * @param held whether its expiry is held
   */
  public record Status(
      int shard, long pending, boolean rebuilding, Duration watermarkLag, boolean held) {}

  /** The status of the owned shards that the group confirms, in ascending order. */
  public List<Status> status() {
    Set<Integer> rebuilding = rebuilding();
    return confirmed().stream()
        .map(
            shard ->
                new Status(
                    shard,
                    timers.pending(shard),
                    rebuilding.contains(shard),
                    watermark.lag(shard),
                    suspensions.isHeld(shard)))
        .toList();
  }

  /**
   * Estimates how many orders of the owned shards come due within each of the given times from now;
   * see {@link ShardedTimers#forecast}. Orders that are being decided do not count.
   */
  public CompletableFuture<long[]> dueWithin(Duration... times) {
    long now = wheelTimeMillis();
    return timers.forecast(Arrays.stream(times).mapToLong(t -> now + t.toMillis()).toArray());
  }

  /** The timers of all shards, if the given shard is owned and its wheel is complete; else null. */
  @Nullable ShardedTimers timersIfComplete(int shard) {
    Ownership ownership = owned.get(shard);
    return ownership != null && ownership.rebuild.isDone() ? timers : null;
  }

  /**
   * Before this time, by Postgres's clock, nothing was read for the shard's wheel; far in the past
   * if the shard is not owned.
   */
  Instant builtSince(int shard) {
    Ownership ownership = owned.get(shard);
    return ownership == null ? Instant.EPOCH : ownership.rebuild.startedAt();
  }

  /** The current time of the wheels: that of Postgres's clock. */
  long wheelTimeMillis() {
    return clock.now().toEpochMilli();
  }

  private void arm(int shard, long[] ids, long[] stagesMillis, int count) {
    timers.schedule(shard, ids, stagesMillis, count);
  }

  private static Map<Integer, List<PendingOrder>> byShard(List<PendingOrder> orders) {
    return orders.stream().collect(Collectors.groupingBy(PendingOrder::shard));
  }

  private List<Meter> register(int shard) {
    String tag = Integer.toString(shard);
    return List.of(
        Gauge.builder("order.timeout.pending", timers, t -> t.pending(shard))
            .description("Number of pending orders in the wheel of an owned shard")
            .tag("shard", tag)
            .register(meters),
        Gauge.builder("order.timeout.watermark.lag", watermark, w -> w.lag(shard).toNanos() / 1e9)
            .description(
                "How long the oldest due order of a shard has been waiting for the payment watermark")
            .baseUnit("seconds")
            .tag("shard", tag)
            .register(meters),
        Gauge.builder("order.timeout.expiry.held", suspensions, s -> s.isHeld(shard) ? 1 : 0)
            .description(
                "1 if the expiry of an owned shard is held until an operator lifts the hold, else 0")
            .tag("shard", tag)
            .register(meters));
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    List.copyOf(owned.values()).forEach(this::release);
    rebuild.close();
    timers.close();
    running = false;
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return LifecyclePhases.SHARDS;
  }
}
