package io.ordertimeout.engine;

import java.util.concurrent.locks.LockSupport;

/** How the worker waits; tests look at what it asks for. */
@FunctionalInterface
interface Parking {

  /** Parks the calling thread until it is unparked, at most so long. May return at any time. */
  void park(long nanos);

  static void untilUnparked(long nanos) {
    if (nanos == Long.MAX_VALUE) {
      LockSupport.park();
    } else {
      LockSupport.parkNanos(nanos);
    }
  }
}
