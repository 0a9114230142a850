package io.ordertimeout.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * A timer that runs arbitrary tasks after a delay. It is meant for timeouts of connections,
 * requests and caches, most of which are cancelled. Thread-safe.
 *
 * <pre>{@code
 * try (TaskTimer timer = new TaskTimer(TimersConfig.defaults("timeouts"), executor)) {
 *   ScheduledTask timeout = timer.schedule(this::closeConnection, Duration.ofSeconds(30));
 *   timeout.cancel();
 * }
 * }</pre>
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

  /** The number of waiting tasks, counted before they are added so that the limit is exact. */
  private final AtomicInteger pending = new AtomicInteger();

  private final AtomicLong lastId = new AtomicLong();
  private final TimerClock clock;
  private final Executor executor;
  private final long retryMillis;
  private final int maxPending;
  private final ShardedTimers timers;
  private volatile boolean opened;
  private volatile boolean stopped;

  /**
   * Creates a timer without tasks.
   *
   * @param config the settings
   * @param executor runs the tasks. With an executor that runs them on the calling thread, which is
   *     the worker, a slow task delays all others. Its {@code execute} must not block: while it
   *     waits for a task that in turn waits for room in the full queue of changes, neither
   *     proceeds. A full executor should reject
   */
  public TaskTimer(TimersConfig config, Executor executor) {
    this(config, TimerClock.steady(), executor);
  }

  private TaskTimer(TimersConfig config, TimerClock clock, Executor executor) {
    this(
        // A task that runs no longer counts, although its timer does until the batch is done.
        listener -> new ShardedTimers(config.withoutLimit(), clock, listener),
        config,
        clock,
        executor);
  }

  TaskTimer(
      Function<DueListener, ShardedTimers> factory,
      TimersConfig config,
      TimerClock clock,
      Executor executor) {
    this.clock = clock;
    this.executor = Objects.requireNonNull(executor, "executor");
    this.retryMillis = config.retryDelay().toMillis();
    this.maxPending = (int) Math.min(config.maxPending(), TimingWheel.MAX_TIMERS);
    this.timers = factory.apply(this::expire);
  }

  /**
   * Schedules a task to run after a delay.
   *
   * @param task the task
   * @param delay the minimum delay; zero or a negative delay makes the task due at once; a delay
   *     that exceeds the range of a long in milliseconds never elapses
   * @return the handle to cancel the task
   * @throws RejectedExecutionException if {@link TimersConfig#maxPending()} tasks are waiting
   * @throws IllegalStateException if stopped
   */
  public ScheduledTask schedule(Runnable task, Duration delay) {
    Objects.requireNonNull(task, "task");
    Objects.requireNonNull(delay, "delay");
    long deadlineMillis = millisAfter(delay);
    openShard();
    countOneMore();
    long id = lastId.incrementAndGet();
    ScheduledTask scheduled = new ScheduledTask(this, id, task, deadlineMillis);
    waiting.put(id, scheduled);
    try {
      timers.schedule(SHARD, id, deadlineMillis);
      if (stopped) {
        throw TimersWorker.stoppedException();
      }
    } catch (RuntimeException | Error failure) {
      // If it can no longer be cancelled, it has expired or a concurrent stop has returned it.
      if (scheduled.cancel()) {
        throw failure;
      }
    }
    return scheduled;
  }

  /**
   * Returns the number of waiting tasks, those that run not included. O(1), never blocks.
   *
   * @return the number of tasks
   */
  public int pending() {
    return pending.get();
  }

  /**
   * Returns the number of tasks that were submitted to the executor late: at least {@link
   * TimersConfig#lateAfter()} after their delays had elapsed, because the worker was stalled or the
   * executor's {@code execute} was slow. O(1), never blocks.
   *
   * @return the number of tasks since the start
   */
  public long late() {
    return timers.late();
  }

  /**
   * Estimates how many waiting tasks are due after each of the given delays from now. See {@link
   * ShardedTimers#forecast}. Tasks that were submitted to the executor are not counted.
   *
   * @param delays the delays
   * @return the number of tasks for each delay
   * @throws IllegalStateException if stopped
   */
  public CompletableFuture<long[]> forecast(Duration... delays) {
    return timers.forecast(Arrays.stream(delays).mapToLong(this::millisAfter).toArray());
  }

  /**
   * Stops the worker, waits for it but not for running tasks, and cancels the waiting tasks,
   * including those that were submitted to the executor and have not run yet. A second call returns
   * an empty list.
   *
   * @return the tasks that this call cancelled, in no particular order
   * @throws IllegalStateException if called by a task that runs on the worker thread
   */
  public List<ScheduledTask> stop() {
    timers.stop();
    return cancelWaiting();
  }

  /** Stops like {@link #stop()}. On the worker thread it does not wait. */
  @Override
  public void close() {
    timers.close();
    cancelWaiting();
  }

  private List<ScheduledTask> cancelWaiting() {
    // First, so that a task that is scheduled meanwhile is either seen below or sees it.
    stopped = true;
    List<ScheduledTask> cancelled = new ArrayList<>();
    for (ScheduledTask task : waiting.values()) {
      if (task.cancel()) {
        cancelled.add(task);
      }
    }
    return cancelled;
  }

  /** Removes a cancelled task. */
  void disarm(long id) {
    if (remove(id) && !stopped) {
      try {
        timers.cancel(SHARD, id);
      } catch (IllegalStateException stoppedMeanwhile) {
        // After the stop nothing expires any more.
        LOG.log(Level.TRACE, "Task cancelled after the stop", stoppedMeanwhile);
      }
    }
  }

  private void countOneMore() {
    if (pending.getAndUpdate(count -> count < maxPending ? count + 1 : count) >= maxPending) {
      throw new RejectedExecutionException(
          "the limit of " + maxPending + " waiting tasks is reached");
    }
  }

  private boolean remove(long id) {
    boolean removed = waiting.remove(id) != null;
    if (removed) {
      pending.decrementAndGet();
    }
    return removed;
  }

  /** Returns the time until a deadline, zero if it has passed. */
  Duration timeUntil(long deadlineMillis) {
    return Duration.ofMillis(Math.max(0, deadlineMillis - clock.nowMillis()));
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

  private long millisAfter(Duration delay) {
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
    remove(id);
    if (due.expire()) {
      try {
        due.task().run();
      } catch (Throwable failure) {
        LOG.log(Level.ERROR, () -> "Task failed: " + due.task(), failure);
      }
    }
  }
}
