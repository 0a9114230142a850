package io.ordertimeout.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One open shard: its wheel, and what it has handed out. Confined to the worker but for pending().
 */
final class Shard {

  /**
   * Nodes a wheel may touch in one turn, so that one shard's cascade does not hold up the others.
   */
  private static final int WORK_PER_TURN = 8192;

  private static final Logger LOG = System.getLogger(ShardedTimers.class.getName());

  private final int key;
  private final TimingWheel wheel;
  private final TimerBuffer buffer;
  private final DueListener listener;
  private final WakeUp wakeUp;
  private final long retryDelayMillis;
  private final long lateAfterMillis;

  /** Ids that changed since the shard was opened; null if it is not being loaded. */
  private @Nullable LongSet changedWhileLoading;

  private @Nullable DueBatch outstanding;
  private boolean paused;
  private long pausedUntilMillis;
  private boolean refusedBefore;
  private long late;
  private volatile long pending;

  /** The buffer is shared by all shards of the worker and empty between turns. */
  Shard(
      int key,
      TimingWheel wheel,
      boolean toBeLoaded,
      TimerBuffer buffer,
      DueListener listener,
      WakeUp wakeUp,
      TimersConfig config) {
    this.key = key;
    this.wheel = wheel;
    this.changedWhileLoading = toBeLoaded ? new LongSet() : null;
    this.buffer = buffer;
    this.listener = listener;
    this.wakeUp = wakeUp;
    this.retryDelayMillis = config.retryDelay().toMillis();
    this.lateAfterMillis = config.lateAfter().toMillis();
  }

  /** Armed and handed out, as of the last turn. From any thread. */
  long pending() {
    return pending;
  }

  /** Handed out late so far. The worker's own. */
  long late() {
    return late;
  }

  long[] forecast(long[] timesMillis) {
    return wheel.forecast(timesMillis);
  }

  void apply(TimerRun run) {
    wheel.lookAhead(run.ids(), run.size());
    for (int i = 0; i < run.size(); i++) {
      apply(run.change(i));
    }
  }

  void apply(TimerChange change) {
    noteChange(change.id());
    if (change.arms()) {
      wheel.schedule(change.id(), change.deadlineMillis());
    } else {
      wheel.cancel(change.id());
    }
  }

  void schedule(long[] ids, long[] deadlinesMillis) {
    noteChanges(ids);
    wheel.schedule(ids, deadlinesMillis, ids.length);
  }

  void cancel(long[] ids) {
    noteChanges(ids);
    wheel.cancel(ids, ids.length);
  }

  void load(long[] ids, long[] deadlinesMillis) {
    LongSet changed = changedWhileLoading;
    for (int i = 0; i < ids.length; i++) {
      if ((changed == null || !changed.contains(ids[i])) && !wheel.contains(ids[i])) {
        wheel.schedule(ids[i], deadlinesMillis[i]);
      }
    }
  }

  void loaded() {
    changedWhileLoading = null;
  }

  private void noteChanges(long[] ids) {
    if (changedWhileLoading != null) {
      for (long id : ids) {
        changedWhileLoading.add(id);
      }
    }
  }

  private void noteChange(long id) {
    if (changedWhileLoading != null) {
      changedWhileLoading.add(id);
    }
  }

  /**
   * Hands out what is due, at most one batch, and returns when to come again: a time up to now for
   * at once, {@code Long.MAX_VALUE} for when something happens.
   */
  long serve(long nowMillis) {
    try {
      return mayHandOut() ? handOut(nowMillis) : Long.MAX_VALUE;
    } finally {
      publishPending();
    }
  }

  /** Leaves the shard alone for the retry delay. */
  long pause(long nowMillis) {
    paused = true;
    pausedUntilMillis = saturatedAdd(nowMillis, retryDelayMillis);
    return pausedUntilMillis;
  }

  private boolean mayHandOut() {
    DueBatch batch = outstanding;
    if (batch == null) {
      return true;
    }
    if (batch.isOpen()) {
      return false;
    }
    if (batch.isRefused()) {
      takeBack(batch);
    }
    outstanding = null;
    return true;
  }

  private long handOut(long nowMillis) {
    if (paused) {
      // A clock that went back must not make the pause longer than it was meant to be.
      pausedUntilMillis = Math.min(pausedUntilMillis, saturatedAdd(nowMillis, retryDelayMillis));
      if (nowMillis < pausedUntilMillis) {
        return pausedUntilMillis;
      }
      paused = false;
    }
    DueBatch batch = collect(nowMillis);
    if (batch == null) {
      return wheel.nextDeadlineMillis();
    }
    outstanding = batch;
    publishPending();
    try {
      listener.onDue(batch);
    } catch (Throwable refusal) {
      return refused(batch, refusal, nowMillis);
    }
    refusedBefore = false;
    // Whether it is done already is seen in the next turn, which done() asks for.
    return Long.MAX_VALUE;
  }

  private @Nullable DueBatch collect(long nowMillis) {
    try {
      wheel.advance(nowMillis, buffer, WORK_PER_TURN);
      if (buffer.size() == 0) {
        return null;
      }
      DueBatch batch = new DueBatch(key, buffer.ids(), buffer.deadlinesMillis(), wakeUp);
      for (int i = 0; i < buffer.size(); i++) {
        noteChange(buffer.id(i));
        // A deadline near the beginning of time makes the difference overflow, and is late.
        long lateMillis = nowMillis - buffer.deadlineMillis(i);
        late += lateMillis >= lateAfterMillis || lateMillis < 0 ? 1 : 0;
      }
      return batch;
    } catch (Throwable failure) {
      for (int i = 0; i < buffer.size(); i++) {
        wheel.schedule(buffer.id(i), buffer.deadlineMillis(i));
      }
      throw failure;
    } finally {
      buffer.clear();
    }
  }

  private long refused(DueBatch batch, Throwable refusal, long nowMillis) {
    boolean takesBack = batch.refuse();
    // Once in a row is enough for whoever reads the log; a full executor refuses ten times a
    // second.
    LOG.log(
        refusedBefore ? Level.DEBUG : Level.WARNING,
        () ->
            takesBack
                ? "Shard "
                    + key
                    + ": listener refused "
                    + batch.size()
                    + " due timers; armed again, next try in "
                    + retryDelayMillis
                    + " ms"
                : "Shard "
                    + key
                    + ": listener threw after the batch of "
                    + batch.size()
                    + " was done; they stay handed out",
        refusal);
    refusedBefore = true;
    // Only now, so that a failure in between is made good by the next turn.
    if (takesBack) {
      takeBack(batch);
    }
    outstanding = null;
    return pause(nowMillis);
  }

  private void takeBack(DueBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      if (!wheel.contains(batch.id(i))) {
        wheel.schedule(batch.id(i), batch.deadlineMillis(i));
      }
    }
  }

  /** The deadline of each timer that is armed or handed out, NOT_KNOWN for the others. */
  long[] deadlines(long[] ids) {
    // A batch that was done or refused since the last turn is not handed out any more.
    mayHandOut();
    DueBatch batch = outstanding;
    Map<Long, Long> handedOut = new HashMap<>();
    if (batch != null) {
      for (int i = 0; i < batch.size(); i++) {
        handedOut.put(batch.id(i), batch.deadlineMillis(i));
      }
    }
    long[] deadlinesMillis = new long[ids.length];
    for (int i = 0; i < ids.length; i++) {
      long otherwise = handedOut.getOrDefault(ids[i], ShardedTimers.NOT_KNOWN);
      deadlinesMillis[i] = wheel.deadlineMillis(ids[i], otherwise);
    }
    return deadlinesMillis;
  }

  ArmedTimers armed() {
    // A batch refused in the last turn is back in the wheel by then, or goes back now.
    mayHandOut();
    long[] ids = new long[wheel.size()];
    long[] deadlinesMillis = new long[ids.length];
    int[] filled = {0};
    wheel.forEach(
        (id, deadlineMillis) -> {
          ids[filled[0]] = id;
          deadlinesMillis[filled[0]] = deadlineMillis;
          filled[0]++;
          return true;
        });
    return new ArmedTimers(key, ids, deadlinesMillis, 0);
  }

  /** A page of what is armed. */
  ArmedTimers armed(int cursor, int limit) {
    // Here too what was refused goes back first.
    mayHandOut();
    return wheel.armed(key, cursor, limit);
  }

  private void publishPending() {
    DueBatch batch = outstanding;
    long now = (long) wheel.size() + (batch == null ? 0 : batch.size());
    if (pending != now) {
      pending = now;
    }
  }

  private static long saturatedAdd(long millis, long delayMillis) {
    long sum = millis + delayMillis;
    return sum < millis ? Long.MAX_VALUE : sum;
  }
}
