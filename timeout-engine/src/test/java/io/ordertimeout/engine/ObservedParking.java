package io.ordertimeout.engine;

/** Parks for real, and lets a test see when the worker has nothing left to do. */
final class ObservedParking implements Parking {

  private int parks;
  private long lastNanos;

  @Override
  public void park(long nanos) {
    synchronized (this) {
      parks++;
      lastNanos = nanos;
      notifyAll();
    }
    Parking.untilUnparked(nanos);
  }

  /** How long the worker last asked to be parked. */
  synchronized long lastNanos() {
    return lastNanos;
  }

  /**
   * Waits until everything that was asked for before is done. The first park may be one that was on
   * its way already; before the second there is a whole turn.
   */
  void settle(ShardedTimers timers) throws InterruptedException {
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
