package io.ordertimeout.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An open shard: its wheel and its outstanding batch. Confined to the worker, except {@link
 * #pending()}.
 */
final class Shard {

  /**
   * The number of timers a wheel may touch in one turn, so that one shard's cascade does not delay
   * the others.
   */
  private static final int WORK_PER_TURN = 8192;

  private static final Logger LOG = System.getLogger(ShardedTimers.class.getName());

  private final int key;
  private final TimingWheel wheel;
  private final TimerBuffer buffer;
  private final DueListener listener;
  private final WakeUpFlag wakeUp;
  private final long retryDelayMillis;
  private final long lateAfterMillis;

  /** The ids changed since the shard was opened, or null if it is not loading. */
  private @Nullable LongSet changedWhileLoading;

  private @Nullable DueBatch outstanding;
  private boolean backingOff;
  private long backOffUntilMillis;
  private boolean rejectedBefore;
  private long late;
  private volatile long pending;

  /** The buffer is shared by all shards of the worker and empty between turns. */
  Shard(
      int key,
      TimingWheel wheel,
      boolean toBeLoaded,
      TimerBuffer buffer,
      DueListener listener,
      WakeUpFlag wakeUp,
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

  /**
   * Returns the number of armed and delivered timers as of the last turn. May be called from any
   * thread.
   */
  long pending() {
    return pending;
  }

  /** Returns the number of timers delivered late so far. Called by the worker only. */
  long late() {
    return late;
  }

  long[] forecast(long[] timesMillis) {
    return wheel.forecast(timesMillis);
  }

  void apply(TimerChangeBatch changes) {
    wheel.prefetch(changes.ids(), changes.size());
    for (int i = 0; i < changes.size(); i++) {
      apply(changes.change(i));
    }
  }

  void apply(TimerChange change) {
    recordChange(change.id());
    if (change.arms()) {
      wheel.schedule(change.id(), change.deadlineMillis());
    } else {
      wheel.cancel(change.id());
    }
  }

  void schedule(long[] ids, long[] deadlinesMillis) {
    recordChanges(ids);
    wheel.schedule(ids, deadlinesMillis, ids.length);
  }

  void cancel(long[] ids) {
    recordChanges(ids);
    wheel.cancel(ids, ids.length);
  }

  /** Arms those of the timers that have not changed while loading; overwrites both arrays. */
  void load(long[] ids, long[] deadlinesMillis) {
    LongSet changed = changedWhileLoading;
    int count = 0;
    for (int i = 0; i < ids.length; i++) {
      if (changed == null || !changed.contains(ids[i])) {
        ids[count] = ids[i];
        deadlinesMillis[count] = deadlinesMillis[i];
        count++;
      }
    }
    wheel.scheduleAbsent(ids, deadlinesMillis, count);
  }

  void loaded() {
    changedWhileLoading = null;
  }

  private void recordChanges(long[] ids) {
    if (changedWhileLoading != null) {
      for (long id : ids) {
        changedWhileLoading.add(id);
      }
    }
  }

  private void recordChange(long id) {
    if (changedWhileLoading != null) {
      changedWhileLoading.add(id);
    }
  }

  /**
   * Delivers at most one batch of due timers and returns the time of the next turn: a time up to
   * now for immediately, {@code Long.MAX_VALUE} for when something changes.
   */
  long serve(long nowMillis) {
    try {
      return mayDeliver() ? deliverDue(nowMillis) : Long.MAX_VALUE;
    } finally {
      publishPending();
    }
  }

  /** Suspends delivery for the retry delay. */
  long backOff(long nowMillis) {
    backingOff = true;
    backOffUntilMillis = saturatedAdd(nowMillis, retryDelayMillis);
    return backOffUntilMillis;
  }

  private boolean mayDeliver() {
    DueBatch batch = outstanding;
    if (batch == null) {
      return true;
    }
    if (batch.isOpen()) {
      return false;
    }
    if (batch.isRejected()) {
      rearm(batch);
    }
    outstanding = null;
    return true;
  }

  private long deliverDue(long nowMillis) {
    if (backingOff) {
      // A clock that went back must not prolong the back-off.
      backOffUntilMillis = Math.min(backOffUntilMillis, saturatedAdd(nowMillis, retryDelayMillis));
      if (nowMillis < backOffUntilMillis) {
        return backOffUntilMillis;
      }
      backingOff = false;
    }
    DueBatch batch = collect(nowMillis);
    if (batch == null) {
      return wheel.nextDeadlineMillis();
    }
    outstanding = batch;
    publishPending();
    try {
      listener.onDue(batch);
    } catch (Throwable cause) {
      return rejected(batch, cause, nowMillis);
    }
    rejectedBefore = false;
    // Whether the batch is already done is checked in the next turn, which done() triggers.
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
        recordChange(buffer.id(i));
        // With a deadline near Long.MIN_VALUE the difference overflows; such a timer is late.
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

  private long rejected(DueBatch batch, Throwable cause, long nowMillis) {
    boolean rearms = batch.reject();
    // Log only the first of consecutive rejections as a warning: a full executor rejects ten times
    // a second.
    LOG.log(
        rejectedBefore ? Level.DEBUG : Level.WARNING,
        () ->
            rearms
                ? "Shard "
                    + key
                    + ": the listener rejected "
                    + batch.size()
                    + " due timers; they are armed again, next attempt in "
                    + retryDelayMillis
                    + " ms"
                : "Shard "
                    + key
                    + ": the listener threw after the batch of "
                    + batch.size()
                    + " timers was done; they count as delivered",
        cause);
    rejectedBefore = true;
    // Last, so that the next turn makes up for a failure in between.
    if (rearms) {
      rearm(batch);
    }
    outstanding = null;
    return backOff(nowMillis);
  }

  private void rearm(DueBatch batch) {
    wheel.scheduleAbsent(batch.ids(), batch.deadlinesMillis(), batch.size());
  }

  /** Returns the deadline of each timer that is armed or delivered, NOT_KNOWN for the others. */
  long[] deadlines(long[] ids) {
    // A batch that was done or rejected since the last turn no longer counts as delivered.
    mayDeliver();
    DueBatch batch = outstanding;
    Map<Long, Long> delivered = new HashMap<>();
    if (batch != null) {
      for (int i = 0; i < batch.size(); i++) {
        delivered.put(batch.id(i), batch.deadlineMillis(i));
      }
    }
    long[] deadlinesMillis = new long[ids.length];
    for (int i = 0; i < ids.length; i++) {
      long otherwise = delivered.getOrDefault(ids[i], ShardedTimers.NOT_KNOWN);
      deadlinesMillis[i] = wheel.deadlineMillisOr(ids[i], otherwise);
    }
    return deadlinesMillis;
  }

  ArmedTimers armed() {
    // Rearms a batch that was rejected in the last turn.
    mayDeliver();
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

  /** Returns a page of the armed timers. */
  ArmedTimers armedPage(int cursor, int limit) {
    // Rearms a batch that was rejected in the last turn.
    mayDeliver();
    return wheel.armedPage(key, cursor, limit);
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
