package io.ordertimeout.benchmarks;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/** The JDK's delay queue with a map from order to element. Cancelling searches the whole queue. */
final class DelayQueueAdapter implements TimerAdapter {

  private final DelayQueue<Order> queue = new DelayQueue<>();
  private final ConcurrentHashMap<Long, Order> orders = new ConcurrentHashMap<>();
  private final LongConsumer expired;
  private final Thread taker;

  DelayQueueAdapter(LongConsumer expired) {
    this.expired = expired;
    this.taker = DaemonThreads.named("taker").newThread(this::take);
    this.taker.start();
  }

  @Override
  public void schedule(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      Order order =
          new Order(
              batch.ids[i],
              System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(batch.deadlinesMillis[i]));
      orders.put(order.id, order);
      queue.add(order);
    }
  }

  @Override
  public void cancel(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      Order order = orders.remove(batch.ids[i]);
      if (order != null) {
        queue.remove(order);
      }
    }
  }

  @Override
  public long pending() {
    return queue.size();
  }

  @Override
  public void close() {
    taker.interrupt();
  }

  private void take() {
    try {
      while (true) {
        long id = queue.take().id;
        orders.remove(id);
        expired.accept(id);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** An element of the queue, ordered by deadline and compared by identity. */
  private static final class Order implements Delayed {

    private final long id;
    private final long deadlineNanos;

    Order(long id, long deadlineNanos) {
      this.id = id;
      this.deadlineNanos = deadlineNanos;
    }

    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.signum(deadlineNanos - ((Order) other).deadlineNanos);
    }
  }
}
