package io.ordertimeout.benchmarks;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Netty's wheel alone, for callers that hold the handle: it cannot cancel by id. */
final class NettyHandlesContestant implements Contestant {

  private final HashedWheelTimer timer = NettyTimers.start();
  private final @Nullable Timeout[] handles;
  private final LongConsumer expired;

  NettyHandlesContestant(int places, LongConsumer expired) {
    this.handles = new Timeout[places];
    this.expired = expired;
  }

  @Override
  public void schedule(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      long id = batch.ids[i];
      handles[batch.places[i]] =
          timer.newTimeout(
              fired -> expired.accept(id), batch.deadlinesMillis[i], TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void cancel(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      Timeout timeout = handles[batch.places[i]];
      handles[batch.places[i]] = null;
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
}
