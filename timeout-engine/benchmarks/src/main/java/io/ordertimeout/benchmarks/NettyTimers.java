package io.ordertimeout.benchmarks;

import io.netty.util.HashedWheelTimer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** What both uses of Netty's wheel share. */
final class NettyTimers {

  /** As Netty's own default. */
  private static final long TICK_MILLIS = 100;

  private static final int SLOTS = 512;

  private NettyTimers() {}

  static HashedWheelTimer start() {
    HashedWheelTimer timer =
        new HashedWheelTimer(Daemons.named("netty"), TICK_MILLIS, TimeUnit.MILLISECONDS, SLOTS);
    timer.start();
    return timer;
  }

  /**
   * Waits until the worker has hung up and taken down everything. It takes up new timers in order,
   * so one that is due at once tells; cancellations it takes up just before, hence twice.
   */
  static void settle(HashedWheelTimer timer) {
    for (int i = 0; i < 2; i++) {
      CountDownLatch fired = new CountDownLatch(1);
      timer.newTimeout(timeout -> fired.countDown(), 0, TimeUnit.MILLISECONDS);
      Waiting.on(fired);
    }
  }
}
