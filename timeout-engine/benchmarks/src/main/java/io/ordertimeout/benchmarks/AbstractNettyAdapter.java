package io.ordertimeout.benchmarks;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The parts common to both uses of Netty's wheel. */
abstract class AbstractNettyAdapter implements TimerAdapter {

  /** Netty's own default. */
  private static final long TICK_MILLIS = 100;

  private static final int SLOTS = 512;

  private final HashedWheelTimer timer =
      new HashedWheelTimer(DaemonThreads.named("netty"), TICK_MILLIS, TimeUnit.MILLISECONDS, SLOTS);

  AbstractNettyAdapter() {
    timer.start();
  }

  final Timeout start(TimerTask task, long delayMillis) {
    return timer.newTimeout(task, delayMillis, TimeUnit.MILLISECONDS);
  }

  static void cancel(@Nullable Timeout timeout) {
    if (timeout != null) {
      timeout.cancel();
    }
  }

  @Override
  public final long pending() {
    return timer.pendingTimeouts();
  }

  /**
   * Waits until the worker has processed every request. The worker takes new timers in order, so
   * one that is due at once shows that the earlier ones were taken. It processes cancellations
   * before new timers, which requires a second round.
   */
  @Override
  public final void settle() {
    for (int i = 0; i < 2; i++) {
      CountDownLatch fired = new CountDownLatch(1);
      start(timeout -> fired.countDown(), 0);
      Waiting.on(fired);
    }
  }

  @Override
  public final void close() {
    timer.stop();
  }
}
