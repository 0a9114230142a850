package io.ordertimeout.benchmarks;

import io.ordertimeout.engine.ShardedTimers;
import io.ordertimeout.engine.TimersConfig;
import java.util.Arrays;
import java.util.function.LongConsumer;

/** This engine's {@code ShardedTimers} on the machine's clock, with single or bulk calls. */
final class ShardedTimersAdapter implements TimerAdapter {

  private static final int ORDERS = 0;

  /** A shard whose timers show that all earlier commands have been applied. */
  private static final int MARKERS = 1;

  private static final long FAR_MILLIS = 1L << 40;

  private final ShardedTimers timers;
  private final boolean batches;
  private final long startNanos = System.nanoTime();
  private long markers;

  ShardedTimersAdapter(boolean batches, LongConsumer expired) {
    this.batches = batches;
    this.timers =
        new ShardedTimers(
            TimersConfig.defaults("wheel"),
            this::nowMillis,
            due -> {
              Arrays.stream(due.ids()).forEach(expired);
              due.done();
            });
    timers.open(ORDERS);
    timers.open(MARKERS);
  }

  @Override
  public void schedule(OrderBatch batch) {
    long nowMillis = nowMillis();
    for (int i = 0; i < batch.count(); i++) {
      batch.deadlinesMillis[i] += nowMillis;
    }
    if (batches) {
      timers.schedule(ORDERS, batch.ids, batch.deadlinesMillis, batch.count());
      return;
    }
    for (int i = 0; i < batch.count(); i++) {
      timers.schedule(ORDERS, batch.ids[i], batch.deadlinesMillis[i]);
    }
  }

  @Override
  public void cancel(OrderBatch batch) {
    if (batches) {
      timers.cancel(ORDERS, batch.ids, batch.count());
      return;
    }
    for (int i = 0; i < batch.count(); i++) {
      timers.cancel(ORDERS, batch.ids[i]);
    }
  }

  @Override
  public long pending() {
    return timers.pending(ORDERS);
  }

  @Override
  public void settle() {
    markers++;
    timers.schedule(MARKERS, markers, FAR_MILLIS);
    Waiting.until(() -> timers.pending(MARKERS) == markers);
  }

  @Override
  public void close() {
    timers.close();
  }

  private long nowMillis() {
    return (System.nanoTime() - startNanos) / 1_000_000;
  }
}
