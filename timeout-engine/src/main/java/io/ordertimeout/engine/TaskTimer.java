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
 * A timer that runs arbitrary tasks after a delay. It is meant for timeouts of connections,
 * requests and caches, most of which are cancelled. Thread-safe.
 *
 * <p>This is a thin layer over {@link ShardedTimers}, which suits timers that already have ids and
 * are stored elsewhere; a task additionally costs an object and a map entry. Scheduling and
 * cancelling are O(1) and block only while the queue of changes is full.
 *
 * <p>Tasks run on the given executor, each once and never before its delay has elapsed. A task that
 * the executor rejects is submitted again after {@link TimersConfig#retryDelay()}, so no task is
 * lost. An exception thrown by a task is logged and does not affect other tasks. Time is monotonic:
 * setting the system clock has no effect.
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
   * Creates a timer without tasks.
   *
   * @param config the settings
   * @param executor runs the tasks; with an executor that runs them on the calling thread, which is
   *     the worker, a slow task delays all others
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
      Function<DueListener, ShardedTimers> factory,
      Duration retryDelay,
      TimerClock clock,
      Executor executor) {
    this.clock = clock;
    this.executor = executor;
    this.retryMillis = retryDelay.toMillis();
    this.timers = factory.apply(this::expire);
  }

  /**
   * Schedules a task to run after a delay.
   *
   * @param task the task
   * @param delay the minimum delay; zero or a negative delay makes the task due at once; a delay
   *     that exceeds the range of a long in milliseconds never elapses
   * @return the handle to cancel the task
   * @throws RejectedExecutionException if this task could exceed {@link TimersConfig#maxPending()}
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
   * Returns the number of waiting tasks. O(tasks / width of the map), never blocks.
   *
   * @return the number of tasks
   */
  public int pending() {
    return waiting.size();
  }

  /**
   * Stops the worker and waits for it, but not for running tasks. A second call returns an empty
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

  /** Stops like {@link #stop()}. On the worker thread it does not wait. */
  @Override
  public void close() {
    timers.close();
  }

  /** Removes a cancelled task. */
  void disarm(long id) {
    if (waiting.remove(id) != null) {
      try {
        timers.cancel(SHARD, id);
      } catch (IllegalStateException stopped) {
        // After the stop nothing expires any more.
        LOG.log(Level.TRACE, "Task cancelled after the stop", stopped);
      }
    }
  }

  /** Opens the shard for the first task, so that a timer without tasks has no thread. */
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
      // The elapsed part of the current millisecond must not shorten the delay.
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
          () -> "The executor rejected a task; retrying in " + retryMillis + " ms",
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
        LOG.log(Level.ERROR, () -> "Task failed: " + due.task(), failure);
      }
    }
  }
}
