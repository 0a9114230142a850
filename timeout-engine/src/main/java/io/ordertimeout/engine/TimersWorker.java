package io.ordertimeout.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The loop of {@link ShardedTimers}: applies commands, serves every shard, parks until the earliest
 * deadline or a wake-up. Nothing ends it but stop.
 */
final class TimersWorker implements Runnable {

  /** Timers changed in one turn, and a command more: some milliseconds' work between two serves. */
  private static final int TIMERS_PER_TURN = 16 * ShardedTimers.CHUNK;

  private static final Logger LOG = System.getLogger(ShardedTimers.class.getName());

  private final TimersConfig config;
  private final TimerClock clock;
  private final DueListener listener;
  private final CommandQueue commands;
  private final WakeUp wakeUp;
  private final TimerBuffer buffer;
  private final TimerRun run = new TimerRun();
  private final AtomicBoolean started = new AtomicBoolean();

  /** Changed by the worker only; read by any thread that asks what is pending. */
  private final ConcurrentHashMap<Integer, Shard> shards = new ConcurrentHashMap<>();

  /** The time of this turn; the worker's own. */
  private long nowMillis;

  private final CompletableFuture<List<ArmedTimers>> stopped = new CompletableFuture<>();
  private volatile boolean stopping;
  private volatile boolean finished;

  /** Timers that commands in the queue will arm; counted only if there is a limit. */
  private final AtomicLong queuedArming = new AtomicLong();

  private int appliedArming;
  private long lateOfDropped;

  /** Pending in all shards, as of the last turn. */
  private volatile long pending;

  private volatile long late;

  TimersWorker(TimersConfig config, TimerClock clock, DueListener listener, Parking parking) {
    this.config = config;
    this.clock = clock;
    this.listener = listener;
    this.wakeUp = new WakeUp(parking);
    this.commands = new CommandQueue(config.queueCapacity());
    this.buffer = new TimerBuffer(config.batchSize());
  }

  void submit(Command command) {
    if (stopping) {
      throw closed();
    }
    if (!started.get()) {
      start();
    }
    admit(command);
    if (isCurrentThread()) {
      commands.putOwn(command);
    } else if (!commands.put(command, () -> stopping)) {
      throw closed();
    }
    wakeUp.raise();
    // Perhaps queued behind the worker's last look, and never applied: the caller has to know.
    if (finished) {
      throw closed();
    }
  }

  /** Has the worker answer a question, which is as much work as so many timers. */
  <T> CompletableFuture<T> ask(int timers, Function<TimersWorker, T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    submit(
        new WorkerCommand(
            timers,
            w -> {
              try {
                answer.complete(question.apply(w));
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

  private void start() {
    if (started.compareAndSet(false, true)) {
      Thread thread = new Thread(this, config.threadName());
      thread.setDaemon(true);
      wakeUp.wakes(thread);
      thread.start();
    }
  }

  /** Refuses what may exceed the limit, counting all of the queue as not armed yet. */
  private void admit(Command command) {
    int arming = command.arming();
    if (arming == 0 || config.maxPending() == Long.MAX_VALUE) {
      return;
    }
    long queued = queuedArming.addAndGet(arming);
    if (pending + queued > config.maxPending()) {
      queuedArming.addAndGet(-arming);
      throw new RejectedExecutionException(
          "not scheduled: "
              + arming
              + " more timers could exceed the limit of "
              + config.maxPending()
              + " pending; "
              + pending
              + " are pending, "
              + (queued - arming)
              + " on their way");
    }
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("stopped, and cannot be started again; make new timers");
  }

  void beginStop() {
    stopping = true;
    // A worker that never ran ends at once.
    start();
    wakeUp.raise();
    commands.releaseWaiting();
  }

  CompletableFuture<List<ArmedTimers>> stopped() {
    return stopped;
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

  ArmedTimers armed(int key, int cursor, int limit) {
    Shard shard = shards.get(key);
    return shard == null
        ? new ArmedTimers(key, new long[0], new long[0], 0)
        : shard.armed(cursor, limit);
  }

  void open(int key, boolean toBeLoaded) {
    TimingWheel wheel = new TimingWheel(config.tick().toMillis(), nowMillis);
    drop(key);
    shards.put(key, new Shard(key, wheel, toBeLoaded, buffer, listener, wakeUp, config));
  }

  void drop(int key) {
    Shard dropped = shards.remove(key);
    if (dropped != null) {
      lateOfDropped += dropped.late();
    }
  }

  @Override
  public void run() {
    while (true) {
      wakeUp.lower();
      // Only now: a stop that found the flag still raised has left it to this look to see it.
      if (stopping) {
        break;
      }
      long waitNanos;
      try {
        waitNanos = turn();
      } catch (Throwable failure) {
        waitNanos = config.retryDelay().toNanos();
        report("Turn failed; timers are late until one succeeds", failure);
      }
      if (waitNanos > 0) {
        wakeUp.await(waitNanos);
      }
    }
    finish();
  }

  /** One look at everything. Returns how long to park, 0 for not at all. */
  private long turn() {
    // Before the commands: a clock that fails must leave them in the queue.
    nowMillis = clock.nowMillis();
    if (applyCommands(TIMERS_PER_TURN)) {
      nowMillis = clock.nowMillis();
    }
    long nextMillis = Long.MAX_VALUE;
    for (Shard shard : shards.values()) {
      nextMillis = Math.min(nextMillis, serve(shard));
    }
    publish();
    return commands.isEmpty() ? nanosUntil(nextMillis) : 0;
  }

  private long serve(Shard shard) {
    try {
      return shard.serve(nowMillis);
    } catch (Throwable failure) {
      report("Serving a shard failed; its timers are late until the retry", failure);
      return shard.pause(nowMillis);
    }
  }

  private static void report(String consequence, Throwable failure) {
    try {
      LOG.log(Level.ERROR, consequence, failure);
    } catch (Throwable ignored) {
      // Whatever a failing log throws, short of memory for one, must not end the worker.
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

  private void publish() {
    long pendingNow = 0;
    long lateNow = lateOfDropped;
    for (Shard shard : shards.values()) {
      pendingNow += shard.pending();
      lateNow += shard.late();
    }
    pending = pendingNow;
    late = lateNow;
    if (config.maxPending() != Long.MAX_VALUE) {
      // Only now, so that no timer is missing from both counts.
      queuedArming.addAndGet(-appliedArming);
      appliedArming = 0;
    }
  }

  /** Applies commands that touch so many timers, and one more at most; false if there were none. */
  private boolean applyCommands(int limit) {
    int touched = 0;
    while (touched < limit) {
      Command command = commands.poll();
      if (command == null) {
        break;
      }
      touched += command.timers();
      appliedArming += command.arming();
      if (command instanceof TimerChange change) {
        gather(change);
      } else {
        apply(run);
        apply(command);
      }
    }
    apply(run);
    commands.releaseWaiting();
    return touched > 0;
  }

  /** Puts a change aside until there are more for the same shard. */
  private void gather(TimerChange change) {
    if (!run.add(change)) {
      apply(run);
      run.add(change);
    }
  }

  private void apply(TimerRun changes) {
    if (changes.isEmpty()) {
      return;
    }
    try {
      Shard open = shards.get(changes.shard());
      if (open != null) {
        open.apply(changes);
      }
    } catch (Throwable failure) {
      reportChange(failure);
    } finally {
      changes.clear();
    }
  }

  private void apply(Command command) {
    try {
      command.applyTo(this);
    } catch (Throwable failure) {
      reportChange(failure);
    }
  }

  private static void reportChange(Throwable failure) {
    report("A change failed; the store has to make it good", failure);
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
      stopped.complete(List.copyOf(armed));
    } catch (Throwable failure) {
      stopped.completeExceptionally(failure);
    }
  }
}
