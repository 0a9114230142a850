package io.ordertimeout.engine;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The flag that keeps the worker from parking over news. Whoever has news publishes it, then
 * raises; the worker lowers, then looks. Each of both is a full fence, so no news is slept over.
 */
final class WakeUp {

  private final AtomicBoolean raised = new AtomicBoolean();
  private final Parking parking;
  private volatile @Nullable Thread worker;

  WakeUp(Parking parking) {
    this.parking = parking;
  }

  /** Names the thread to wake. Called before that thread starts. */
  void wakes(Thread thread) {
    worker = thread;
  }

  boolean isWorker() {
    return Thread.currentThread() == worker;
  }

  void raise() {
    // Only the first to raise pays for the unpark, and the rest only for a fence.
    VarHandle.fullFence();
    if (!raised.getPlain() && !raised.getAndSet(true)) {
      LockSupport.unpark(worker);
    }
  }

  void lower() {
    raised.getAndSet(false);
  }

  /** Parks once unless raised; may return early, as parking may. */
  void await(long nanos) {
    if (!raised.get()) {
      parking.park(nanos);
      // Nobody has a reason to interrupt the worker, and with the flag set it would never park
      // again.
      Thread.interrupted();
    }
  }
}
