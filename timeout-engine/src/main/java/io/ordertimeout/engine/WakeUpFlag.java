package io.ordertimeout.engine;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A flag that keeps the worker from parking while there is work it has not seen. A producer
 * publishes its work and then raises the flag; the worker clears the flag and then looks for work.
 * Both operations are full fences, so no wake-up is lost.
 */
final class WakeUpFlag {

  private final AtomicBoolean raised = new AtomicBoolean();
  private final ParkStrategy parkStrategy;
  private volatile @Nullable Thread worker;

  WakeUpFlag(ParkStrategy parkStrategy) {
    this.parkStrategy = parkStrategy;
  }

  /** Sets the thread to wake. Must be called before that thread starts. */
  void setWorker(Thread thread) {
    worker = thread;
  }

  boolean isWorker() {
    return Thread.currentThread() == worker;
  }

  void raise() {
    // Only the first producer to raise the flag pays for the unpark; the others pay for a fence.
    VarHandle.fullFence();
    if (!raised.getPlain() && !raised.getAndSet(true)) {
      LockSupport.unpark(worker);
    }
  }

  void clear() {
    raised.getAndSet(false);
  }

  /** Parks once unless the flag is raised. May return early, because parking may. */
  void parkUnlessRaised(long nanos) {
    if (!raised.get()) {
      parkStrategy.park(nanos);
      // Nothing interrupts the worker on purpose, and with the interrupt flag set it would never
      // park again.
      Thread.interrupted();
    }
  }
}
