package io.ordertimeout.engine;

/** A park strategy that parks and lets a test wait until the worker is idle. */
final class RecordingParkStrategy implements ParkStrategy {

  private int parks;
  private long lastNanos;

  @Override
  public void park(long nanos) {
    synchronized (this) {
      parks++;
      lastNanos = nanos;
      notifyAll();
    }
    ParkStrategy.parkCurrentThread(nanos);
  }

  /** Returns the time for which the worker last parked. */
  synchronized long lastNanos() {
    return lastNanos;
  }

  /**
   * Waits until the worker has completed everything requested before this call. The first park may
   * have been under way already; a whole turn precedes the second.
   */
  void awaitIdle(ShardedTimers timers) throws InterruptedException {
    for (int i = 0; i < 2; i++) {
      int seen = parks();
      timers.clockChanged();
      awaitParkAfter(seen);
    }
  }

  private synchronized int parks() {
    return parks;
  }

  private synchronized void awaitParkAfter(int seen) throws InterruptedException {
    while (parks == seen) {
      wait();
    }
  }
}
