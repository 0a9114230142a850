package io.ordertimeout.orders.shard;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.engine.ArmedTimers;
import io.ordertimeout.engine.ShardedTimers;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.PendingOrders;
import io.ordertimeout.orders.deadline.PendingOrders.Cursor;
import io.ordertimeout.orders.deadline.PendingOrders.Page;
import io.ordertimeout.orders.expiry.Expiry;
import io.ordertimeout.orders.platform.monitoring.BackgroundLoop;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
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
 * A net below everything that keeps wheels and Postgres alike: a slow comparison of the two, shard
 * by shard. What differs is looked at again after a while, since either may just be ahead of the
 * other; what differs still is repaired in the wheel, and counted. Where all is well, nothing is
 * ever counted.
 */
@Component
class WheelReconciler extends BackgroundLoop {

  private static final Logger log = LoggerFactory.getLogger(WheelReconciler.class);

  /** So that a sweep over millions of orders does not crowd out what matters. */
  private static final Duration PAUSE_BETWEEN_PAGES = Duration.ofMillis(50);

  private static final int MOST_DIFFERENCES = 100_000;

  /** How a wheel can differ from Postgres. */
  private enum Difference {
    /** Pending, but not in the wheel: it would never be decided. */
    MISSING,
    /** In the wheel, but not pending: it is woken in vain. */
    EXTRA,
    /** In the wheel at another time than that of its deadline. */
    DEADLINE
  }

  private final Shards shards;
  private final PendingOrders orders;
  private final Duration interval;
  private final Duration confirmAfter;
  private final int pageSize;
  private final Map<Difference, Counter> repaired = new EnumMap<>(Difference.class);
  private final StepHealth step;

  WheelReconciler(
      Shards shards,
      PendingOrders orders,
      StepHealthRegistry steps,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    super(
        steps.step("reconciler"),
        Shards.PHASE + 1,
        properties.reconciler().interval(),
        "the wheels are not compared with Postgres for now");
    this.shards = shards;
    this.orders = orders;
    this.interval = properties.reconciler().interval();
    this.confirmAfter = properties.reconciler().confirmAfter();
    this.pageSize = properties.wheel().loadPage();
    for (Difference kind : Difference.values()) {
      repaired.put(
          kind,
          Counter.builder("order.timeout.repaired")
              .description("Orders of which the wheel differed from Postgres, and was repaired")
              .tag("kind", kind.name().toLowerCase(Locale.ROOT))
              .register(meters));
    }
    this.step = steps.step("reconciler");
  }

  @Override
  protected void turn() throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(interval.toMillis());
    for (int shard : shards.owned()) {
      sweep(shard);
    }
    step.succeeded();
  }

  private void sweep(int shard) throws InterruptedException {
    ShardedTimers timers = shards.completeTimers(shard);
    if (timers == null) {
      return;
    }
    Set<Long> suspects = new LinkedHashSet<>();
    suspectPending(shard, timers, suspects);
    suspectArmed(shard, timers, suspects);
    if (suspects.isEmpty()) {
      return;
    }
    TimeUnit.MILLISECONDS.sleep(confirmAfter.toMillis());
    if (shards.completeTimers(shard) != null) {
      compare(shard, timers, suspects).forEach((kind, ids) -> repair(shard, timers, kind, ids));
    }
  }

  private void suspectPending(int shard, ShardedTimers timers, Set<Long> suspects)
      throws InterruptedException {
    Cursor cursor = null;
    do {
      Page page = orders.page(shard, cursor, pageSize);
      long[] armed = answer(timers.deadlines(shard, page.ids(), page.size()));
      long now = shards.wheelTimeMillis();
      for (int i = 0; i < page.size() && suspects.size() < MOST_DIFFERENCES; i++) {
        if (difference(page.deadlinesMillis()[i], armed[i], now) != null) {
          suspects.add(page.ids()[i]);
        }
      }
      cursor = page.last();
      TimeUnit.MILLISECONDS.sleep(PAUSE_BETWEEN_PAGES.toMillis());
    } while (cursor != null);
  }

  private void suspectArmed(int shard, ShardedTimers timers, Set<Long> suspects)
      throws InterruptedException {
    long cursor = 0;
    do {
      ArmedTimers page = answer(timers.armed(shard, cursor, pageSize));
      long[] ids = new long[page.size()];
      for (int i = 0; i < ids.length; i++) {
        ids[i] = page.id(i);
      }
      Map<Long, Long> pending = orders.find(shard, ids);
      for (int i = 0; i < ids.length && suspects.size() < MOST_DIFFERENCES; i++) {
        if (!pending.containsKey(ids[i])) {
          suspects.add(ids[i]);
        }
      }
      cursor = page.nextCursor();
      TimeUnit.MILLISECONDS.sleep(PAUSE_BETWEEN_PAGES.toMillis());
    } while (cursor != 0);
  }

  private Map<Difference, List<Long>> compare(int shard, ShardedTimers timers, Set<Long> suspects)
      throws InterruptedException {
    long[] ids = suspects.stream().mapToLong(Long::longValue).toArray();
    Map<Long, Long> pending = orders.find(shard, ids);
    long[] armed = answer(timers.deadlines(shard, ids, ids.length));
    long now = shards.wheelTimeMillis();
    Map<Difference, List<Long>> differences = new EnumMap<>(Difference.class);
    for (int i = 0; i < ids.length; i++) {
      Difference difference = difference(pending.get(ids[i]), armed[i], now);
      if (difference != null) {
        differences.computeIfAbsent(difference, kind -> new ArrayList<>()).add(ids[i]);
      }
    }
    return differences;
  }

  /**
   * Compares an order's deadline with that of its timer. An order that is due stands in the wheel
   * at its next try.
   */
  private @Nullable Difference difference(@Nullable Long deadline, long armed, long now) {
    if (armed == ShardedTimers.NOT_KNOWN) {
      return deadline == null ? null : Difference.MISSING;
    }
    if (deadline == null) {
      return Difference.EXTRA;
    }
    boolean alike = Math.abs(armed - deadline) <= 1;
    boolean triedAgain = deadline <= now && armed <= now + Expiry.LONGEST_RETRY_MILLIS;
    return alike || triedAgain ? null : Difference.DEADLINE;
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
    } else {
      long[] deadlines = new long[wrong.length];
      for (int i = 0; i < wrong.length; i++) {
        deadlines[i] = pending.getOrDefault(wrong[i], 0L);
      }
      timers.schedule(shard, wrong, deadlines, wrong.length);
    }
    Counter counter = repaired.get(kind);
    if (counter != null && wrong.length > 0) {
      counter.increment(wrong.length);
      log.error(
          "The wheel of shard {} differed from Postgres in {} orders ({}), among them row {}; it was"
              + " repaired, but should not have been",
          shard,
          wrong.length,
          kind,
          wrong[0]);
    }
  }

  private static <T> T answer(CompletableFuture<T> question) throws InterruptedException {
    try {
      return question.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("the wheel did not answer", e.getCause());
    }
  }
}
