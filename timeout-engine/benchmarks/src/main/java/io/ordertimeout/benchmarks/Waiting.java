package io.ordertimeout.benchmarks;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for other threads. Benchmarks are never interrupted. */
final class Waiting {

  private static final long POLL_NANOS = 100_000;

  private Waiting() {}

  static void on(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted while measuring", e);
    }
  }

  static void on(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted while measuring", e);
    }
  }

  static void until(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(POLL_NANOS);
    }
  }
}
