package io.ordertimeout.benchmarks;

import io.netty.util.Timeout;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/** Netty's wheel with a map from order to handle. */
final class NettyAdapter extends AbstractNettyAdapter {

  private final ConcurrentHashMap<Long, Timeout> timeouts = new ConcurrentHashMap<>();
  private final LongConsumer expired;

  NettyAdapter(LongConsumer expired) {
    this.expired = expired;
  }

  @Override
  public void schedule(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      Long id = batch.ids[i];
      timeouts.put(id, start(fired -> expire(id), batch.deadlinesMillis[i]));
    }
  }

  @Override
  public void cancel(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      cancel(timeouts.remove(batch.ids[i]));
    }
  }

  private void expire(Long id) {
    timeouts.remove(id);
    expired.accept(id);
  }
}
