package io.ordertimeout.orders.shard;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.ordertimeout.engine.ShardedTimers;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.PendingOrders;
import io.ordertimeout.orders.order.PendingOrders.Cursor;
import io.ordertimeout.orders.order.PendingOrders.Page;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import java.time.Duration;
import java.time.Instant;
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
 * take turns, so that orders due soon are armed early in every shard. Thread-safe; O(pending).
 */
@Component
class ShardRebuild {

  private static final Logger log = LoggerFactory.getLogger(ShardRebuild.class);
  private static final int THREADS = 2;
  private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

  private final PendingOrders orders;
  private final int pageSize;
  private final StepHealth step;
  private final Timer rebuildTime;
  private final Counter rebuiltOrders;
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
    this.rebuildTime =
        Timer.builder("order.timeout.rebuild")
            .description("Time from acquiring a shard until its wheel is complete")
            .register(meters);
    this.rebuiltOrders =
        Counter.builder("order.timeout.rebuilt.orders")
            .description(
                "Pending orders loaded from Postgres to rebuild the wheels of acquired shards")
            .register(meters);
  }

  /**
   * Starts to rebuild the shard, which must be open for loading.
   *
   * @param now the time by Postgres's clock
   */
  Progress start(int shard, ShardedTimers timers, Instant now) {
    Progress progress = new Progress(shard, timers, now);
    threads.execute(progress::loadPage);
    return progress;
  }

  /** Stops all rebuilds. */
  void close() {
    threads.shutdownNow();
  }

  /** The rebuild of one shard. */
  final class Progress {

    private final int shard;
    private final ShardedTimers timers;
    private final Instant startedAt;
    private final long startNanos = System.nanoTime();
    private @Nullable Cursor cursor;
    private long loaded;
    private volatile boolean cancelled;
    private volatile boolean done;

    private Progress(int shard, ShardedTimers timers, Instant startedAt) {
      this.shard = shard;
      this.timers = timers;
      this.startedAt = startedAt;
    }

    /** Before this time, by Postgres's clock, nothing was read for the wheel. */
    Instant startedAt() {
      return startedAt;
    }

    boolean isDone() {
      return done;
    }

    void cancel() {
      cancelled = true;
      step.abandoned(this);
    }

    private void loadPage() {
      if (cancelled) {
        return;
      }
      try {
        Page page = orders.page(shard, cursor, pageSize);
        if (cancelled) {
          return;
        }
        step.succeeded();
        timers.load(shard, page.ids(), page.stagesMillis(), page.size());
        loaded += page.size();
        cursor = page.last();
        if (cursor == null) {
          finish();
        } else {
          threads.execute(this::loadPage);
        }
      } catch (RuntimeException | Error e) {
        if (cancelled || threads.isShutdown()) {
          return;
        }
        CompletableFuture.delayedExecutor(RETRY_DELAY.toMillis(), TimeUnit.MILLISECONDS, threads)
            .execute(this::loadPage);
        step.failed(
            "a shard's wheel is incomplete; only the orders loaded so far are served", e, this);
        if (cancelled) {
          step.abandoned(this);
        }
      }
    }

    private void finish() {
      timers.loaded(shard);
      done = true;
      long nanos = System.nanoTime() - startNanos;
      rebuildTime.record(nanos, TimeUnit.NANOSECONDS);
      rebuiltOrders.increment((double) loaded);
      log.info("Rebuilt shard {}: {} pending orders in {} ms", shard, loaded, nanos / 1_000_000);
    }
  }
}
