package io.ordertimeout.benchmarks;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Netty's wheel, whichever way its handles are kept. */
abstract class AbstractNettyAdapter implements TimerAdapter {

  /** As Netty's own default. */
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
   * Waits until the worker has hung up and taken down everything. It takes up new timers in order,
   * so one that is due at once tells; cancellations it takes up just before, hence twice.
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
