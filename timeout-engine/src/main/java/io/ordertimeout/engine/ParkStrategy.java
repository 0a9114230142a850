package io.ordertimeout.engine;

import java.util.concurrent.locks.LockSupport;

/** The way in which the worker parks. Tests replace it to observe the requested times. */
@FunctionalInterface
interface ParkStrategy {

  /**
   * Parks the calling thread until it is unparked or the time has elapsed. May return spuriously.
   */
  void park(long nanos);

  static void parkCurrentThread(long nanos) {
    if (nanos == Long.MAX_VALUE) {
      LockSupport.park();
    } else {
      LockSupport.parkNanos(nanos);
    }
  }
}
