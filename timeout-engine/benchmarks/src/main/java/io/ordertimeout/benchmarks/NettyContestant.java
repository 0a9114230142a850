package io.ordertimeout.benchmarks;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/** Netty's wheel, with a map from the order to its handle. */
final class NettyContestant implements Contestant {

  private final HashedWheelTimer timer = NettyTimers.start();
  private final ConcurrentHashMap<Long, Timeout> timeouts = new ConcurrentHashMap<>();
  private final LongConsumer expired;

  NettyContestant(LongConsumer expired) {
    this.expired = expired;
  }

  @Override
  public void schedule(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      Long id = batch.ids[i];
      timeouts.put(
          id,
          timer.newTimeout(fired -> expire(id), batch.deadlinesMillis[i], TimeUnit.MILLISECONDS));
    }
  }

  @Override
  public void cancel(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      Timeout timeout = timeouts.remove(batch.ids[i]);
      if (timeout != null) {
        timeout.cancel();
      }
    }
  }

  @Override
  public long pending() {
    return timer.pendingTimeouts();
  }

  @Override
  public void settle() {
    NettyTimers.settle(timer);
  }

  @Override
  public void close() {
    timer.stop();
  }

  private void expire(Long id) {
    timeouts.remove(id);
    expired.accept(id);
  }
}
