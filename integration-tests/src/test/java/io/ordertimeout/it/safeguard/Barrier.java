package io.ordertimeout.it.safeguard;

import java.util.concurrent.CountDownLatch;

/** Stops threads of the service where they {@link #pass} it, while the test has it closed. */
final class Barrier {

  private volatile CountDownLatch opened = new CountDownLatch(0);
  private volatile boolean reached;

  /** Stops every thread that comes to the barrier from now on. */
  void close() {
    reached = false;
    opened = new CountDownLatch(1);
  }

  /** Lets all threads go on. */
  void open() {
    opened.countDown();
  }

  /** Returns whether the barrier has stopped a thread since it was closed. */
  boolean isReached() {
    return reached;
  }

  /** Returns once the barrier is open; called by a thread of the service. */
  void pass() throws InterruptedException {
    CountDownLatch open = opened;
    if (open.getCount() > 0) {
      reached = true;
      open.await();
    }
  }
}
