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
 * The bounded queue of commands from any thread to the worker. It is lock-free while there is room;
 * a producer that finds the queue full blocks.
 *
 * <p>The worker must not block, because only the worker frees capacity. Commands that it adds to a
 * full queue go to an overflow list. They are polled after everything that was queued when the
 * overflow began, so the worker's own commands also take effect in order.
 */
final class CommandQueue {

  // The variant that does not use Unsafe, whose use newer Java versions report with a warning.
  private final MpscAtomicArrayQueue<Command> queue;
  private final ArrayDeque<Command> overflow = new ArrayDeque<>();
  private int queuedBeforeOverflow;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition room = lock.newCondition();
  private final AtomicInteger waiting = new AtomicInteger();

  CommandQueue(int capacity) {
    queue = new MpscAtomicArrayQueue<>(capacity);
  }

  /**
   * Adds a command from any thread except the worker. Blocks while the queue is full.
   *
   * @return false if the queue was closed while waiting
   */
  boolean put(Command command, BooleanSupplier closed) {
    return queue.offer(command) || putWhenRoom(command, closed);
  }

  /** Adds a command from the worker. Never blocks. */
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

  /** Removes the next command, or returns null if there is none. Called by the worker only. */
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

  /** Called by the worker only. */
  boolean isEmpty() {
    return overflow.isEmpty() && queue.isEmpty();
  }

  /**
   * Wakes the producers that are waiting for room, so that they retry or notice that the queue is
   * closed.
   */
  void releaseWaiting() {
    // The queue frees its slots with ordered stores. Without the fence the worker could miss a
    // producer that in turn missed the freed slot.
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
