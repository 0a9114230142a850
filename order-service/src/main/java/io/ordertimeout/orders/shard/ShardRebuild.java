package io.ordertimeout.orders.shard;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.ordertimeout.engine.ShardedTimers;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.PendingOrders;
import io.ordertimeout.orders.deadline.PendingOrders.Cursor;
import io.ordertimeout.orders.deadline.PendingOrders.Page;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/**
 * Rebuilds wheels from Postgres in the background, page by page, nearest deadline first. The shards
 * take turns, so that what is due soon is armed soon in each of them. Thread-safe; O(pending).
 */
@Component
class ShardRebuild {

  private static final Logger log = LoggerFactory.getLogger(ShardRebuild.class);
  private static final int THREADS = 2;
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final PendingOrders orders;
  private final int pageSize;
  private final StepHealth step;
  private final Timer seconds;
  private final Counter rebuilt;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(THREADS, new CustomizableThreadFactory("shard-rebuild-"));

  ShardRebuild(
      PendingOrders orders,
      StepHealthRegistry steps,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.orders = orders;
    this.step = steps.step("shard-rebuild");
    this.pageSize = properties.wheel().loadPage();
    this.seconds =
        Timer.builder("order.timeout.rebuild")
            .description("From taking a shard over to its wheel being complete")
            .register(meters);
    this.rebuilt =
        Counter.builder("order.timeout.rebuilt.orders")
            .description("Pending orders armed from Postgres when shards were taken over")
            .register(meters);
  }

  /** Begins to load the shard, which has just been opened. */
  Progress begin(int shard, ShardedTimers timers) {
    Progress progress = new Progress(shard, timers);
    threads.execute(progress::next);
    return progress;
  }

  /** Ends all rebuilding. */
  void close() {
    threads.shutdownNow();
  }

  /** The rebuilding of one shard. */
  final class Progress {

    private final int shard;
    private final ShardedTimers timers;
    private final long startNanos = System.nanoTime();
    private @Nullable Cursor cursor;
    private long loaded;
    private volatile boolean cancelled;
    private volatile boolean done;

    private Progress(int shard, ShardedTimers timers) {
      this.shard = shard;
      this.timers = timers;
    }

    boolean isDone() {
      return done;
    }

    void cancel() {
      cancelled = true;
    }

    private void next() {
      if (cancelled) {
        return;
      }
      try {
        Page page = orders.page(shard, cursor, pageSize);
        if (cancelled) {
          return;
        }
        step.succeeded();
        timers.load(shard, page.ids(), page.deadlinesMillis(), page.size());
        loaded += page.size();
        cursor = page.last();
        if (cursor == null) {
          finish();
        } else {
          threads.execute(this::next);
        }
      } catch (RuntimeException e) {
        if (cancelled || threads.isShutdown()) {
          return;
        }
        step.failed("a shard is not complete yet; what is loaded of it is served", e);
        CompletableFuture.delayedExecutor(RETRY.toMillis(), TimeUnit.MILLISECONDS, threads)
            .execute(this::next);
      }
    }

    private void finish() {
      timers.loaded(shard);
      done = true;
      long nanos = System.nanoTime() - startNanos;
      seconds.record(nanos, TimeUnit.NANOSECONDS);
      rebuilt.increment((double) loaded);
      log.info("Rebuilt shard {}: {} pending orders in {} ms", shard, loaded, nanos / 1_000_000);
    }
  }
}
