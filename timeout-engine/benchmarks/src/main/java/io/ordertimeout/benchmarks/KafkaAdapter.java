package io.ordertimeout.benchmarks;

import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.TimerTask;

/** Kafka's wheel, driven by a reaper thread as in the broker, with a map from order to task. */
final class KafkaAdapter implements TimerAdapter {

  private static final long REAPER_TIMEOUT_MILLIS = 200;

  private final SystemTimer timer = new SystemTimer("order");
  private final ConcurrentHashMap<Long, Task> tasks = new ConcurrentHashMap<>();
  private final LongConsumer expired;
  private final Thread reaper;
  private volatile boolean closing;

  KafkaAdapter(LongConsumer expired) {
    this.expired = expired;
    this.reaper = DaemonThreads.named("reaper").newThread(this::reap);
    this.reaper.start();
  }

  @Override
  public void schedule(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      Long id = batch.ids[i];
      Task task = new Task(id, batch.deadlinesMillis[i]);
      tasks.put(id, task);
      timer.add(task);
    }
  }

  @Override
  public void cancel(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      Task task = tasks.remove(batch.ids[i]);
      if (task != null) {
        task.cancel();
      }
    }
  }

  @Override
  public long pending() {
    return timer.size();
  }

  @Override
  public void close() {
    closing = true;
    Waiting.on(reaper);
    timer.close();
  }

  private void reap() {
    try {
      while (!closing) {
        timer.advanceClock(REAPER_TIMEOUT_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The timer of an order. */
  private final class Task extends TimerTask {

    private final Long id;

    Task(Long id, long delayMillis) {
      super(delayMillis);
      this.id = id;
    }

    @Override
    public void run() {
      tasks.remove(id);
      expired.accept(id);
    }
  }
}
