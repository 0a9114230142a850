package io.ordertimeout.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.agrona.DeadlineTimerWheel;
import org.agrona.collections.Long2LongHashMap;

/**
 * Agrona's wheel. It assigns its own timer ids, so one map translates from order to timer for
 * cancelling and a second one from timer to order for expiry.
 */
final class AgronaAdapter implements TimerAdapter {

  private static final long TICK_MILLIS = 64;

  /** Nearly 17.5 minutes, so no deadline needs a second revolution. */
  private static final int TICKS_PER_WHEEL = 16_384;

  private static final long MISSING = Long.MIN_VALUE;

  private final DeadlineTimerWheel wheel =
      new DeadlineTimerWheel(TimeUnit.MILLISECONDS, 0, TICK_MILLIS, TICKS_PER_WHEEL);
  private final Long2LongHashMap timers = new Long2LongHashMap(MISSING);
  private final Long2LongHashMap orders = new Long2LongHashMap(MISSING);
  private final LongConsumer expired;

  AgronaAdapter(LongConsumer expired) {
    this.expired = expired;
  }

  @Override
  public void schedule(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      long timer = wheel.scheduleTimer(batch.deadlinesMillis[i]);
      timers.put(batch.ids[i], timer);
      orders.put(timer, batch.ids[i]);
    }
  }

  @Override
  public void cancel(OrderBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      long timer = timers.remove(batch.ids[i]);
      if (timer != MISSING) {
        wheel.cancelTimer(timer);
        orders.remove(timer);
      }
    }
  }

  @Override
  public boolean advance(long nowMillis, int limit) {
    wheel.poll(nowMillis, this::expire, limit);
    return wheel.timerCount() > 0 && wheel.currentTickTime() <= nowMillis;
  }

  @Override
  public long pending() {
    return wheel.timerCount();
  }

  private boolean expire(TimeUnit unit, long nowMillis, long timer) {
    long id = orders.remove(timer);
    timers.remove(id);
    expired.accept(id);
    return true;
  }
}
