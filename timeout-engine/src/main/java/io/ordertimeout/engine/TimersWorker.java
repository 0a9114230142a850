package io.ordertimeout.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The loop of {@link ShardedTimers}: applies commands, serves every shard, parks until the earliest
 * deadline or a wake-up. Nothing ends it but stop.
 */
final class TimersWorker implements Runnable {

  /**
   * Each of at most {@link ShardedTimers#CHUNK} timers: some milliseconds' work between two serves.
   */
  private static final int COMMANDS_PER_TURN = 64;

  private static final Logger LOG = System.getLogger(ShardedTimers.class.getName());

  private final TimersConfig config;
  private final TimerClock clock;
  private final DueListener listener;
  private final CommandQueue commands;
  private final WakeUp wakeUp;
  private final TimerBuffer buffer;

  /** Changed by the worker only; read by any thread that asks what is pending. */
  private final ConcurrentHashMap<Integer, Shard> shards = new ConcurrentHashMap<>();

  /** The time of this turn; the worker's own. */
  private long nowMillis;

  private final CompletableFuture<List<ArmedTimers>> stopped = new CompletableFuture<>();
  private volatile boolean stopping;
  private volatile boolean finished;

  TimersWorker(TimersConfig config, TimerClock clock, DueListener listener, WakeUp wakeUp) {
    this.config = config;
    this.clock = clock;
    this.listener = listener;
    this.wakeUp = wakeUp;
    this.commands = new CommandQueue(config.queueCapacity());
    this.buffer = new TimerBuffer(config.batchSize());
  }

  void submit(Command command) {
    if (stopping) {
      throw closed();
    }
    if (wakeUp.isWorker()) {
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

  private static IllegalStateException closed() {
    return new IllegalStateException("closed");
  }

  void beginStop() {
    stopping = true;
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
    long sum = 0;
    for (Shard shard : shards.values()) {
      sum += shard.pending();
    }
    return sum;
  }

  void open(int key) {
    TimingWheel wheel = new TimingWheel(config.tick().toMillis(), nowMillis);
    long retryDelayMillis = config.retryDelay().toMillis();
    shards.put(key, new Shard(key, wheel, buffer, listener, wakeUp, retryDelayMillis));
  }

  void drop(int key) {
    shards.remove(key);
  }

  @Override
  public void run() {
    while (!stopping) {
      wakeUp.lower();
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
    if (applyCommands(COMMANDS_PER_TURN)) {
      nowMillis = clock.nowMillis();
    }
    long nextMillis = Long.MAX_VALUE;
    for (Shard shard : shards.values()) {
      nextMillis = Math.min(nextMillis, serve(shard));
    }
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

  /** Applies so many commands at most; false if there were none. */
  private boolean applyCommands(int limit) {
    int applied = 0;
    while (applied < limit) {
      Command command = commands.poll();
      if (command == null) {
        break;
      }
      applied++;
      try {
        command.applyTo(this);
      } catch (Throwable failure) {
        report("A change failed; the store has to make it good", failure);
      }
    }
    commands.releaseWaiting();
    return applied > 0;
  }

  private void finish() {
    try {
      finished = true;
      while (!commands.isEmpty()) {
        applyCommands(COMMANDS_PER_TURN);
      }
      List<ArmedTimers> armed = new ArrayList<>();
      for (Shard shard : shards.values()) {
        armed.add(shard.armed());
      }
      shards.clear();
      stopped.complete(List.copyOf(armed));
    } catch (Throwable failure) {
      stopped.completeExceptionally(failure);
    }
  }
}
