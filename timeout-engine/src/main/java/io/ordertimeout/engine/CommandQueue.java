package io.ordertimeout.engine;

import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The bounded way to the worker: lock-free while there is room, and a caller that finds none waits.
 *
 * <p>The worker itself cannot wait for room, since it is the one who makes it. What it adds to a
 * full queue goes to an overflow of its own, which is read once everything that was queued at that
 * moment has been, so that its commands too take effect in order.
 */
final class CommandQueue {

  // The variant without Unsafe, which newer Java versions warn about.
  private final MpscAtomicArrayQueue<Command> queue;
  private final ArrayDeque<Command> overflow = new ArrayDeque<>();
  private int queuedBeforeOverflow;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition room = lock.newCondition();
  private final AtomicInteger waiting = new AtomicInteger();

  CommandQueue(int capacity) {
    queue = new MpscAtomicArrayQueue<>(capacity);
  }

  /** From any thread but the worker. Waits for room; false if closed while waiting. */
  boolean put(Command command, BooleanSupplier closed) {
    return queue.offer(command) || putWhenRoom(command, closed);
  }

  /** From the worker only. Never waits. */
  void putOwn(Command command) {
    if (overflow.isEmpty()) {
      if (queue.offer(command)) {
        return;
      }
      queuedBeforeOverflow = queue.size();
    }
    overflow.add(command);
  }

  private boolean putWhenRoom(Command command, BooleanSupplier closed) {
    lock.lock();
    try {
      waiting.incrementAndGet();
      while (!closed.getAsBoolean()) {
        if (queue.offer(command)) {
          return true;
        }
        room.awaitUninterruptibly();
      }
      return false;
    } finally {
      waiting.decrementAndGet();
      lock.unlock();
    }
  }

  /** From the worker only. */
  @Nullable Command poll() {
    if (queuedBeforeOverflow == 0 && !overflow.isEmpty()) {
      return overflow.poll();
    }
    Command command = queue.poll();
    if (command != null && queuedBeforeOverflow > 0) {
      queuedBeforeOverflow--;
    }
    return command;
  }

  /** From the worker only. */
  boolean isEmpty() {
    return overflow.isEmpty() && queue.isEmpty();
  }

  /** Wakes the callers that wait for room, or to see that it is closed. */
  void releaseWaiting() {
    // The queue frees its places with ordered stores: without the fence the worker could miss a
    // caller that in turn missed the free place.
    VarHandle.fullFence();
    if (waiting.get() > 0) {
      lock.lock();
      try {
        room.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }
}
