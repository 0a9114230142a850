package io.ordertimeout.benchmarks;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/** The JDK's scheduled executor, a binary heap, with a map from order to future. */
final class ExecutorAdapter implements TimerAdapter {

  private final ScheduledThreadPoolExecutor executor =
      new ScheduledThreadPoolExecutor(1, DaemonThreads.named("executor"));
  private final ConcurrentHashMap<Long, Future<?>> futures = new ConcurrentHashMap<>();
  private final LongConsumer expired;

  ExecutorAdapter(LongConsumer expired) {
    this.expired = expired;
    executor.setRemoveOnCancelPolicy(true);
  }

  @Override
  public void schedule(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      Long id = batch.ids[i];
      futures.put(
          id, executor.schedule(() -> expire(id), batch.deadlinesMillis[i], TimeUnit.MILLISECONDS));
    }
  }

  @Override
  public void cancel(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      Future<?> future = futures.remove(batch.ids[i]);
      if (future != null) {
        future.cancel(false);
      }
    }
  }

  @Override
  public long pending() {
    return executor.getQueue().size();
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }

  private void expire(Long id) {
    futures.remove(id);
    expired.accept(id);
  }
}
