package io.ordertimeout.orders.shard;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.engine.ArmedTimers;
import io.ordertimeout.engine.ShardedTimers;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.expiry.Expiry;
import io.ordertimeout.orders.order.PendingOrders;
import io.ordertimeout.orders.order.PendingOrders.Cursor;
import io.ordertimeout.orders.order.PendingOrders.Page;
import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Reconciles the wheels with Postgres: compares the two slowly, shard by shard. A difference is
 * checked again after a while, since either side may just be ahead of the other. If the same
 * difference persists, the wheel is repaired and the difference is counted. In a correct service
 * the count stays 0.
 */
@Component
class WheelReconciler {

  private static final Logger log = LoggerFactory.getLogger(WheelReconciler.class);

  /** Keeps the comparison of millions of orders from slowing down the processing of events. */
  private static final Duration PAUSE_BETWEEN_PAGES = Duration.ofMillis(50);

  private static final int MAX_DIFFERENCES = 100_000;

  /** How a wheel can differ from Postgres. */
  private enum Difference {
    /** Pending, but not in the wheel: the order would never be decided. */
    MISSING,
    /** In the wheel, but not pending: waking the order has no effect. */
    EXTRA,
    /** In the wheel with a time other than the next stage. */
    DEADLINE
  }

  private final Shards shards;
  private final PendingOrders orders;
  private final Duration confirmAfter;
  private final int pageSize;
  private final Map<Difference, Counter> repaired = new EnumMap<>(Difference.class);

  WheelReconciler(
      Shards shards,
      PendingOrders orders,
      PeriodicTasks tasks,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.shards = shards;
    this.orders = orders;
    this.confirmAfter = properties.reconciler().confirmAfter();
    this.pageSize = properties.wheel().loadPage();
    for (Difference kind : Difference.values()) {
      repaired.put(
          kind,
          Counter.builder("order.timeout.repaired")
              .description(
                  "Orders whose entry in the wheel differed from Postgres and was repaired")
              .tag("kind", kind.name().toLowerCase(Locale.ROOT))
              .register(meters));
    }
    tasks.repeat(
        "reconciler",
        properties.reconciler().interval(),
        "the wheels are currently not compared with Postgres",
        this::reconcile);
  }

  private void reconcile() throws InterruptedException {
    for (int shard : shards.owned()) {
      reconcile(shard);
    }
  }

  private void reconcile(int shard) throws InterruptedException {
    ShardedTimers timers = shards.timersIfComplete(shard);
    if (timers == null) {
      return;
    }
    Map<Long, Difference> suspects = new LinkedHashMap<>();
    addPendingSuspects(shard, timers, suspects);
    addArmedSuspects(shard, timers, suspects);
    if (suspects.isEmpty()) {
      return;
    }
    TimeUnit.MILLISECONDS.sleep(confirmAfter.toMillis());
    if (shards.timersIfComplete(shard) != null) {
      compare(shard, timers, suspects).forEach((kind, ids) -> repair(shard, timers, kind, ids));
    }
  }

  private void addPendingSuspects(int shard, ShardedTimers timers, Map<Long, Difference> suspects)
      throws InterruptedException {
    Cursor cursor = null;
    do {
      Page page = orders.page(shard, cursor, pageSize);
      long[] armed = await(timers.deadlines(shard, page.ids(), page.size()));
      long now = shards.wheelTimeMillis();
      for (int i = 0; i < page.size() && suspects.size() < MAX_DIFFERENCES; i++) {
        Difference difference = difference(page.stagesMillis()[i], armed[i], now);
        if (difference != null) {
          suspects.put(page.ids()[i], difference);
        }
      }
      cursor = page.last();
      TimeUnit.MILLISECONDS.sleep(PAUSE_BETWEEN_PAGES.toMillis());
    } while (cursor != null);
  }

  private void addArmedSuspects(int shard, ShardedTimers timers, Map<Long, Difference> suspects)
      throws InterruptedException {
    long cursor = 0;
    do {
      ArmedTimers page = await(timers.armed(shard, cursor, pageSize));
      long[] ids = new long[page.size()];
      for (int i = 0; i < ids.length; i++) {
        ids[i] = page.id(i);
      }
      Map<Long, Long> pending = orders.find(shard, ids);
      for (int i = 0; i < ids.length && suspects.size() < MAX_DIFFERENCES; i++) {
        if (!pending.containsKey(ids[i])) {
          suspects.put(ids[i], Difference.EXTRA);
        }
      }
      cursor = page.nextCursor();
      TimeUnit.MILLISECONDS.sleep(PAUSE_BETWEEN_PAGES.toMillis());
    } while (cursor != 0);
  }

  /** Returns the suspects that still differ as they did, by the kind of their difference. */
  private Map<Difference, List<Long>> compare(
      int shard, ShardedTimers timers, Map<Long, Difference> suspects) throws InterruptedException {
    long[] ids = suspects.keySet().stream().mapToLong(Long::longValue).toArray();
    Map<Long, Long> pending = orders.find(shard, ids);
    long[] armed = await(timers.deadlines(shard, ids, ids.length));
    long now = shards.wheelTimeMillis();
    Map<Difference, List<Long>> differences = new EnumMap<>(Difference.class);
    for (int i = 0; i < ids.length; i++) {
      Difference difference = difference(pending.get(ids[i]), armed[i], now);
      if (difference != null && difference == suspects.get(ids[i])) {
        differences.computeIfAbsent(difference, kind -> new ArrayList<>()).add(ids[i]);
      }
    }
    return differences;
  }

  /**
   * Compares an order's next stage with the time of its timer. The timer of a due order is set to
   * its next retry.
   */
  private @Nullable Difference difference(@Nullable Long stage, long armed, long now) {
    if (armed == ShardedTimers.NOT_KNOWN) {
      return stage == null ? null : Difference.MISSING;
    }
    if (stage == null) {
      return Difference.EXTRA;
    }
    boolean matches = Math.abs(armed - stage) <= 1;
    boolean awaitsRetry = stage <= now && armed <= now + Expiry.LONGEST_RETRY_MILLIS;
    return matches || awaitsRetry ? null : Difference.DEADLINE;
  }

  private void repair(int shard, ShardedTimers timers, Difference kind, List<Long> suspects) {
    long[] ids = suspects.stream().mapToLong(Long::longValue).toArray();
    Map<Long, Long> pending = orders.find(shard, ids);
    long[] wrong =
        suspects.stream()
            .filter(id -> pending.containsKey(id) == (kind != Difference.EXTRA))
            .mapToLong(Long::longValue)
            .toArray();
    if (kind == Difference.EXTRA) {
      timers.cancel(shard, wrong, wrong.length);
      wrong = unexplained(shard, wrong);
    } else {
      long[] stages = new long[wrong.length];
      for (int i = 0; i < wrong.length; i++) {
        stages[i] = pending.getOrDefault(wrong[i], 0L);
      }
      timers.schedule(shard, wrong, stages, wrong.length);
    }
    Counter counter = repaired.get(kind);
    if (counter != null && wrong.length > 0) {
      counter.increment(wrong.length);
      log.error(
          "The wheel of shard {} differed from Postgres in {} orders ({}), among them row {}. It was"
              + " repaired, but this should never happen; please report it",
          shard,
          wrong.length,
          kind,
          wrong[0]);
    }
  }

  /**
   * Another instance may have parked an order or, in another partition, read its payment. And after
   * Postgres has lost commits, an order can be pending again until its decision is read back.
   */
  private long[] unexplained(int shard, long[] extra) {
    Set<Long> explained = orders.settledElsewhere(shard, extra, shards.builtSince(shard));
    return Arrays.stream(extra).filter(id -> !explained.contains(id)).toArray();
  }

  private static <T> T await(CompletableFuture<T> result) throws InterruptedException {
    try {
      return result.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("the wheel failed to respond", e.getCause());
    }
  }
}
