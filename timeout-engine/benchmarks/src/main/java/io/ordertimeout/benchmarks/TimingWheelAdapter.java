package io.ordertimeout.benchmarks;

import io.ordertimeout.engine.TimingWheel;
import java.util.function.LongConsumer;

/** This engine's {@code TimingWheel}, with single or bulk calls. */
final class TimingWheelAdapter implements TimerAdapter {

  private final TimingWheel wheel;
  private final boolean batches;
  private final LongConsumer expired;

  TimingWheelAdapter(long tickMillis, boolean batches, LongConsumer expired) {
    this.wheel = new TimingWheel(tickMillis, 0);
    this.batches = batches;
    this.expired = expired;
  }

  @Override
  public void schedule(OrderBatch batch) {
    if (batches) {
      wheel.schedule(batch.ids, batch.deadlinesMillis, batch.count());
      return;
    }
    for (int i = 0; i < batch.count(); i++) {
      wheel.schedule(batch.ids[i], batch.deadlinesMillis[i]);
    }
  }

  @Override
  public void cancel(OrderBatch batch) {
    if (batches) {
      wheel.cancel(batch.ids, batch.count());
      return;
    }
    for (int i = 0; i < batch.count(); i++) {
      wheel.cancel(batch.ids[i]);
    }
  }

  @Override
  public boolean advance(long nowMillis, int limit) {
    wheel.advance(nowMillis, this::expire, limit);
    return wheel.size() > 0 && wheel.nextDeadlineMillis() <= nowMillis;
  }

  @Override
  public long pending() {
    return wheel.size();
  }

  private boolean expire(long id, long deadlineMillis) {
    expired.accept(id);
    return true;
  }
}
