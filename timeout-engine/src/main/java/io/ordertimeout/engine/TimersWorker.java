package io.ordertimeout.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The worker loop of {@link ShardedTimers}: it applies commands, serves every shard, and parks
 * until the earliest deadline or a wake-up. Only a stop ends it.
 */
final class TimersWorker implements Runnable {

  /**
   * The number of timers changed per turn, exceeded by one command at most. It is of the size of a
   * batch, because a shard delivers one batch per turn: with a larger one, a flood of changes holds
   * back what is due.
   */
  private static final int TIMERS_PER_TURN = ShardedTimers.CHUNK;

  private static final Logger LOG = System.getLogger(ShardedTimers.class.getName());

  private final TimersConfig config;
  private final TimerClock clock;
  private final DueListener listener;
  private final CommandQueue commands;
  private final WakeUpFlag wakeUp;
  private final TimerBuffer buffer;
  private final TimerChangeBatch pendingChanges = new TimerChangeBatch();

  /** Held while the worker is started, or stopped without having been started. */
  private final Object starting = new Object();

  private volatile boolean started;

  /** Modified by the worker only; read by any thread that queries pending counts. */
  private final ConcurrentHashMap<Integer, Shard> shards = new ConcurrentHashMap<>();

  /** The time of the current turn. Used by the worker only. */
  private long nowMillis;

  private final CompletableFuture<@Nullable Void> stopped = new CompletableFuture<>();

  /** What was armed at the stop, until a caller takes it. */
  private final AtomicReference<List<ArmedTimers>> armedAtStop = new AtomicReference<>(List.of());

  private volatile boolean stopping;
  private volatile boolean finished;

  private long lateInDroppedShards;

  /** The pending timers of all shards as of the last turn. */
  private volatile long pending;

  private volatile long late;

  TimersWorker(
      TimersConfig config, TimerClock clock, DueListener listener, ParkStrategy parkStrategy) {
    this.config = config;
    this.clock = clock;
    this.listener = listener;
    this.wakeUp = new WakeUpFlag(parkStrategy);
    this.commands = new CommandQueue(config.queueCapacity());
    this.buffer = new TimerBuffer(config.batchSize());
  }

  void submit(Command command) {
    if (stopping) {
      throw stoppedException();
    }
    if (!started) {
      start();
    }
    if (isCurrentThread()) {
      commands.putOwn(command);
    } else if (!commands.put(command, () -> stopping)) {
      throw stoppedException();
    }
    wakeUp.raise();
    // The command may have been queued after the worker's last poll, in which case it is never
    // applied and the caller must know.
    if (finished) {
      throw stoppedException();
    }
  }

  /** Submits a query, whose cost is given as a number of timers, to the worker. */
  <T> CompletableFuture<T> query(int timers, Function<TimersWorker, T> query) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    submit(
        new WorkerCommand(
            timers,
            w -> {
              try {
                answer.complete(query.apply(w));
              } catch (Throwable failure) {
                answer.completeExceptionally(failure);
              }
            }));
    return answer;
  }

  boolean isCurrentThread() {
    return wakeUp.isWorker();
  }

  void wake() {
    wakeUp.raise();
  }

  /** Starts the worker unless another thread has. If that fails, a later call tries again. */
  private void start() {
    synchronized (starting) {
      if (!started) {
        Thread thread = config.threadFactory().newThread(this);
        wakeUp.setWorker(thread);
        thread.start();
        started = true;
      }
    }
  }

  static IllegalStateException stoppedException() {
    return new IllegalStateException("stopped and cannot be restarted; create a new instance");
  }

  void beginStop() {
    stopping = true;
    synchronized (starting) {
      if (!started) {
        started = true;
        finish();
      }
    }
    wakeUp.raise();
    commands.releaseWaiting();
  }

  /** Waits until the worker has ended, and hands over what was armed then, once. */
  List<ArmedTimers> awaitStop() {
    stopped.join();
    return armedAtStop.getAndSet(List.of());
  }

  @Nullable Shard shard(int key) {
    return shards.get(key);
  }

  long pending() {
    return pending;
  }

  long late() {
    return late;
  }

  long[] forecast(long[] timesMillis) {
    long[] sum = new long[timesMillis.length];
    for (Shard shard : shards.values()) {
      long[] due = shard.forecast(timesMillis);
      for (int i = 0; i < sum.length; i++) {
        sum[i] += due[i];
      }
    }
    return sum;
  }

  long[] deadlines(int key, long[] ids) {
    Shard shard = shards.get(key);
    if (shard != null) {
      return shard.deadlines(ids);
    }
    long[] none = new long[ids.length];
    Arrays.fill(none, ShardedTimers.NOT_KNOWN);
    return none;
  }

  ArmedTimers armedPage(int key, int cursor, int limit) {
    Shard shard = shards.get(key);
    return shard == null
        ? new ArmedTimers(key, new long[0], new long[0], 0)
        : shard.armedPage(cursor, limit);
  }

  void open(int key, boolean toBeLoaded) {
    TimingWheel wheel = new TimingWheel(config.tick().toMillis(), nowMillis);
    drop(key);
    shards.put(key, new Shard(key, wheel, toBeLoaded, buffer, listener, wakeUp, config));
  }

  void drop(int key) {
    Shard dropped = shards.remove(key);
    if (dropped != null) {
      lateInDroppedShards += dropped.late();
    }
  }

  @Override
  public void run() {
    while (true) {
      wakeUp.clear();
      // After the clear: a stop that found the flag raised relies on this check.
      if (stopping) {
        break;
      }
      long waitNanos;
      try {
        waitNanos = turn();
      } catch (Throwable failure) {
        waitNanos = config.retryDelay().toNanos();
        logError("Worker turn failed; timers are late until a turn succeeds", failure);
      }
      if (waitNanos > 0) {
        wakeUp.parkUnlessRaised(waitNanos);
      }
    }
    finish();
  }

  /** Executes one turn. Returns how long to park in nanoseconds, 0 for not at all. */
  private long turn() {
    // Read the clock before polling commands: if the clock fails, they must stay in the queue.
    nowMillis = clock.nowMillis();
    if (applyCommands(TIMERS_PER_TURN)) {
      nowMillis = clock.nowMillis();
    }
    long nextMillis = Long.MAX_VALUE;
    for (Shard shard : shards.values()) {
      nextMillis = Math.min(nextMillis, serve(shard));
    }
    publishCounts();
    return commands.isEmpty() ? nanosUntil(nextMillis) : 0;
  }

  private long serve(Shard shard) {
    try {
      return shard.serve(nowMillis);
    } catch (Throwable failure) {
      logError("Serving a shard failed; its timers are late until the next attempt", failure);
      return shard.backOff(nowMillis);
    }
  }

  private static void logError(String consequence, Throwable failure) {
    try {
      LOG.log(Level.ERROR, consequence, failure);
    } catch (Throwable ignored) {
      // Whatever a failing logger throws, even an OutOfMemoryError, must not end the worker.
    }
  }

  private long nanosUntil(long millis) {
    if (millis == Long.MAX_VALUE) {
      return Long.MAX_VALUE;
    }
    if (millis <= nowMillis) {
      return 0;
    }
    long wait = millis - nowMillis;
    return wait < 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(wait);
  }

  private void publishCounts() {
    long pendingNow = 0;
    long lateNow = lateInDroppedShards;
    for (Shard shard : shards.values()) {
      pendingNow += shard.pending();
      lateNow += shard.late();
    }
    pending = pendingNow;
    late = lateNow;
  }

  /**
   * Applies commands that touch up to {@code limit} timers, and at most one command more. Returns
   * false if there were none.
   */
  private boolean applyCommands(int limit) {
    int touched = 0;
    while (touched < limit) {
      Command command = commands.poll();
      if (command == null) {
        break;
      }
      touched += command.timers();
      if (command instanceof TimerChange change) {
        collect(change);
      } else {
        apply(pendingChanges);
        apply(command);
      }
    }
    apply(pendingChanges);
    commands.releaseWaiting();
    return touched > 0;
  }

  /** Collects changes of the same shard so that they are applied together. */
  private void collect(TimerChange change) {
    if (!pendingChanges.add(change)) {
      apply(pendingChanges);
      pendingChanges.add(change);
    }
  }

  private void apply(TimerChangeBatch changes) {
    if (changes.isEmpty()) {
      return;
    }
    try {
      Shard open = shards.get(changes.shard());
      if (open != null) {
        open.apply(changes);
      }
    } catch (Throwable failure) {
      logFailedChange(failure);
    } finally {
      changes.clear();
    }
  }

  private void apply(Command command) {
    try {
      command.applyTo(this);
    } catch (Throwable failure) {
      logFailedChange(failure);
    }
  }

  private static void logFailedChange(Throwable failure) {
    logError("A change failed and is lost; it must be repaired from the store", failure);
  }

  private void finish() {
    try {
      finished = true;
      while (!commands.isEmpty()) {
        applyCommands(TIMERS_PER_TURN);
      }
      List<ArmedTimers> armed = new ArrayList<>();
      for (Shard shard : shards.values()) {
        armed.add(shard.armed());
      }
      shards.clear();
      pending = 0;
      armedAtStop.set(List.copyOf(armed));
      stopped.complete(null);
    } catch (Throwable failure) {
      stopped.completeExceptionally(failure);
    }
  }
}
