package io.ordertimeout.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * Runs arbitrary tasks after a delay, on a timing wheel: for the timeouts of connections, requests
 * and caches, most of which are cancelled. Thread-safe.
 *
 * <p>A thin layer over {@link ShardedTimers}, which is better where timers have ids already and are
 * stored elsewhere: a task costs an object and an entry of a map. Scheduling and cancelling are
 * O(1) and wait only while the queue of changes is full.
 *
 * <p>Tasks run on the executor given, never before their delay has passed, and each once. What the
 * executor rejects is offered again after {@link TimersConfig#retryDelay()}, so that nothing is
 * lost. An exception of a task is logged and harms no other task. Time is steady: setting the
 * computer's clock has no influence.
 */
public final class TaskTimer implements AutoCloseable {

  private static final Logger LOG = System.getLogger(TaskTimer.class.getName());
  private static final int SHARD = 0;

  private final ConcurrentMap<Long, ScheduledTask> waiting = new ConcurrentHashMap<>();
  private final AtomicLong lastId = new AtomicLong();
  private final TimerClock clock;
  private final Executor executor;
  private final long retryMillis;
  private final ShardedTimers timers;
  private volatile boolean opened;

  /**
   * Makes a timer without tasks.
   *
   * @param config the settings
   * @param executor runs the tasks; one that runs them on the calling thread, the worker, makes a
   *     slow task delay all others
   */
  public TaskTimer(TimersConfig config, Executor executor) {
    this(config, TimerClock.steady(), executor);
  }

  private TaskTimer(TimersConfig config, TimerClock clock, Executor executor) {
    this(
        listener -> new ShardedTimers(config, clock, listener),
        config.retryDelay(),
        clock,
        executor);
  }

  TaskTimer(
      Function<DueListener, ShardedTimers> front,
      Duration retryDelay,
      TimerClock clock,
      Executor executor) {
    this.clock = clock;
    this.executor = executor;
    this.retryMillis = retryDelay.toMillis();
    this.timers = front.apply(this::expire);
  }

  /**
   * Has a task run after a delay.
   *
   * @param task the task
   * @param delay how long to wait at least; zero or less for at once; what exceeds the range of a
   *     long in milliseconds counts as forever
   * @return the handle to cancel it by
   * @throws RejectedExecutionException if more tasks would be waiting than {@link
   *     TimersConfig#maxPending()}
   * @throws IllegalStateException if stopped
   */
  public ScheduledTask schedule(Runnable task, Duration delay) {
    openShard();
    long id = lastId.incrementAndGet();
    ScheduledTask scheduled = new ScheduledTask(this, id, task);
    waiting.put(id, scheduled);
    try {
      timers.schedule(SHARD, id, deadlineMillis(delay));
    } catch (RuntimeException rejection) {
      waiting.remove(id);
      throw rejection;
    }
    return scheduled;
  }

  /**
   * Counts the tasks that are waiting. O(tasks / width of the map), never waits.
   *
   * @return the number of tasks
   */
  public int pending() {
    return waiting.size();
  }

  /**
   * Stops the worker and waits for it, but not for tasks that run. A second call returns an empty
   * list.
   *
   * @return the tasks that neither expired nor were cancelled, in no particular order; they will
   *     not run
   * @throws IllegalStateException if called by a task that runs on the worker thread
   */
  public List<ScheduledTask> stop() {
    timers.stop();
    List<ScheduledTask> unprocessed = List.copyOf(waiting.values());
    waiting.clear();
    return unprocessed;
  }

  /** Stops like {@link #stop()}; called on the worker thread, it does not wait. */
  @Override
  public void close() {
    timers.close();
  }

  /** Disarms a task that was cancelled. */
  void forget(long id) {
    if (waiting.remove(id) != null) {
      try {
        timers.cancel(SHARD, id);
      } catch (IllegalStateException stopped) {
        // Then nothing will expire any more.
        LOG.log(Level.TRACE, "cancelled after the stop", stopped);
      }
    }
  }

  /** Before the first task, so that a timer without tasks has no thread. */
  private void openShard() {
    if (!opened) {
      synchronized (waiting) {
        if (!opened) {
          timers.open(SHARD);
          opened = true;
        }
      }
    }
  }

  private long deadlineMillis(Duration delay) {
    long nowMillis = clock.nowMillis();
    try {
      // The part of the present millisecond that has passed already must not shorten the delay.
      return Math.addExact(nowMillis, delay.plusNanos(1_999_999).toMillis());
    } catch (ArithmeticException forever) {
      return delay.isNegative() ? nowMillis : Long.MAX_VALUE;
    }
  }

  private void expire(DueBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      long id = batch.id(i);
      ScheduledTask due = waiting.get(id);
      if (due != null) {
        expire(id, due);
      }
    }
    batch.done();
  }

  private void expire(long id, ScheduledTask due) {
    try {
      executor.execute(() -> run(id, due));
    } catch (RejectedExecutionException rejection) {
      LOG.log(
          Level.WARNING,
          () -> "The executor rejected a task; it is offered again in " + retryMillis + " ms",
          rejection);
      timers.schedule(SHARD, id, clock.nowMillis() + retryMillis);
    }
  }

  private void run(long id, ScheduledTask due) {
    waiting.remove(id);
    if (due.expire()) {
      try {
        due.task().run();
      } catch (Throwable failure) {
        LOG.log(Level.ERROR, () -> "A task failed: " + due.task(), failure);
      }
    }
  }
}
