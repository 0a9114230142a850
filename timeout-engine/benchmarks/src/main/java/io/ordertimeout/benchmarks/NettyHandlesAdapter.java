package io.ordertimeout.benchmarks;

import io.netty.util.Timeout;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Netty's wheel without a map, for callers that keep the handles. It cannot cancel by id. */
final class NettyHandlesAdapter extends AbstractNettyAdapter {

  private final @Nullable Timeout[] handles;
  private final LongConsumer expired;

  NettyHandlesAdapter(int places, LongConsumer expired) {
    this.handles = new Timeout[places];
    this.expired = expired;
  }

  @Override
  public void schedule(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      long id = batch.ids[i];
      handles[batch.places[i]] = start(fired -> expired.accept(id), batch.deadlinesMillis[i]);
    }
  }

  @Override
  public void cancel(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      cancel(handles[batch.places[i]]);
      handles[batch.places[i]] = null;
    }
  }
}
