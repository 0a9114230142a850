package io.ordertimeout.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;

/**
 * Timers for many threads: one {@link TimingWheel} per open shard and one worker thread that turns
 * them all. Thread-safe.
 *
 * <p><b>Threading.</b> Changes from any thread are queued and take effect soon after, those of one
 * thread in its order. Queueing is lock-free while there is room. When the queue is full the caller
 * waits until there is: nothing is lost silently, and whoever is too fast notices. An interrupt
 * does not end the waiting; the thread's interrupt flag is kept. Called from the {@link
 * DueListener}, on the worker thread, nothing ever waits. After {@link #stop()} every change throws
 * {@link IllegalStateException}, also for callers that were waiting; a change made at the very time
 * of the stop may throw although it took effect, but is never lost without throwing.
 *
 * <p><b>Handing out.</b> What is due reaches the {@link DueListener} in batches of one shard, in
 * the order of {@link TimingWheel#advance}, never early, and at most one batch of a shard at a
 * time: a slow consumer holds back its own shard, whose due timers stay armed, and no other.
 * Nothing is dropped.
 *
 * <p><b>Idle.</b> The worker parks until the earliest deadline, a change, {@link DueBatch#done()}
 * or {@link #clockChanged()}. It never polls. A few timers far away cost no wake-up on their way,
 * many in one slot at most one for each level of the wheel.
 *
 * <p><b>Shards that are not open</b> ignore changes: this is a cache of a store, and who opens a
 * shard loads it from there.
 *
 * <p><b>Questions</b> are queued like changes, in the same order, so a thread's question sees its
 * changes. The worker completes the answer soon after; one asked before {@link #stop()} is still
 * answered. What is chained to an answer without an executor may run on the worker thread, where it
 * must not block; nor must the {@link DueListener} wait for an answer.
 *
 * <p>A change costs what it costs in the wheel, O(1) for each timer; a turn of the worker adds
 * O(open shards).
 */
public final class ShardedTimers implements AutoCloseable {

  /** The most timers in one command, so that a large array does not hold up the worker at once. */
  static final int CHUNK = 1024;

  /**
   * The answer of {@link #deadlines} for a timer that is neither armed nor handed out. A timer that
   * was scheduled for this very millisecond, the beginning of time, is answered the same.
   */
  public static final long NOT_KNOWN = Long.MIN_VALUE;

  /** The work of a page, in timers: it reads a segment of the index and some thousand timers. */
  private static final int PAGE_WORK = 4 * CHUNK;

  private final TimersWorker worker;

  /**
   * Makes timers without any shard. The worker, a daemon thread, starts with the first change.
   *
   * @param config the settings
   * @param clock the time to go by
   * @param listener receives what is due
   */
  public ShardedTimers(TimersConfig config, TimerClock clock, DueListener listener) {
    this(config, clock, listener, Parking::untilUnparked);
  }

  ShardedTimers(TimersConfig config, TimerClock clock, DueListener listener, Parking parking) {
    Objects.requireNonNull(clock, "clock");
    Objects.requireNonNull(listener, "listener");
    worker = new TimersWorker(config, clock, listener, parking);
  }

  /**
   * Opens a shard with an empty wheel. A shard that is open already is replaced: its timers are
   * forgotten, and a batch of it that is not done yet no longer counts.
   *
   * @param shard the shard
   * @throws IllegalStateException if stopped
   */
  public void open(int shard) {
    worker.submit(new WorkerCommand(1, w -> w.open(shard, false)));
  }

  /**
   * Opens a shard like {@link #open}, ready to be loaded: until {@link #loaded} it remembers what
   * changes, some 16 to 32 bytes a change.
   *
   * @param shard the shard
   * @throws IllegalStateException if stopped
   */
  public void openForLoading(int shard) {
    worker.submit(new WorkerCommand(1, w -> w.open(shard, true)));
  }

  /**
   * Feeds a shard from its store while changes go on: arms each timer that was neither scheduled,
   * nor cancelled, nor handed out since {@link #openForLoading}. What is due is handed out
   * meanwhile, so load the nearest deadlines first. Of a shard that is not being loaded it arms
   * each timer that is not armed.
   *
   * @param shard the shard
   * @param ids the ids; copied
   * @param deadlinesMillis their deadlines in milliseconds; copied
   * @param count how many of both to read, from the first
   * @throws IndexOutOfBoundsException if an array is shorter than count
   * @throws RejectedExecutionException if more timers would be pending than allowed; those up to a
   *     multiple of 1024 may have been taken
   * @throws IllegalStateException if stopped
   */
  public void load(int shard, long[] ids, long[] deadlinesMillis, int count) {
    checkCount(count, ids.length);
    checkCount(count, deadlinesMillis.length);
    for (int from = 0; from < count; from += Math.min(CHUNK, count - from)) {
      long[] someIds = chunk(ids, from, count);
      long[] someDeadlines = chunk(deadlinesMillis, from, count);
      int some = someIds.length;
      worker.submit(new ShardCommand(shard, some, some, open -> open.load(someIds, someDeadlines)));
    }
  }

  /**
   * Ends the loading of a shard and forgets what changed meanwhile.
   *
   * @param shard the shard
   * @throws IllegalStateException if stopped
   */
  public void loaded(int shard) {
    worker.submit(new ShardCommand(shard, 1, 0, Shard::loaded));
  }

  /**
   * Arms a timer, or moves it if it is armed.
   *
   * @param shard the shard
   * @param id the timer's id, unique in its shard
   * @param deadlineMillis the deadline in milliseconds; one in the past is due at once
   * @throws RejectedExecutionException if more timers would be pending than allowed; nothing has
   *     changed
   * @throws IllegalStateException if stopped
   */
  public void schedule(int shard, long id, long deadlineMillis) {
    worker.submit(new TimerChange(shard, id, true, deadlineMillis));
  }

  /**
   * Arms timers, or moves those that are armed. Much cheaper than one by one.
   *
   * @param shard the shard
   * @param ids the ids; copied
   * @param deadlinesMillis their deadlines in milliseconds; copied
   * @param count how many of both to read, from the first
   * @throws IndexOutOfBoundsException if an array is shorter than count
   * @throws RejectedExecutionException if more timers would be pending than allowed; those up to a
   *     multiple of 1024 may have been taken
   * @throws IllegalStateException if stopped
   */
  public void schedule(int shard, long[] ids, long[] deadlinesMillis, int count) {
    checkCount(count, ids.length);
    checkCount(count, deadlinesMillis.length);
    for (int from = 0; from < count; from += Math.min(CHUNK, count - from)) {
      long[] someIds = chunk(ids, from, count);
      long[] someDeadlines = chunk(deadlinesMillis, from, count);
      int some = someIds.length;
      worker.submit(
          new ShardCommand(shard, some, some, open -> open.schedule(someIds, someDeadlines)));
    }
  }

  /**
   * Disarms a timer. One that is not armed is ignored; one that is handed out stays so.
   *
   * @param shard the shard
   * @param id the timer's id
   * @throws IllegalStateException if stopped
   */
  public void cancel(int shard, long id) {
    worker.submit(new TimerChange(shard, id, false, 0));
  }

  /**
   * Disarms timers. Those that are not armed are ignored; those that are handed out stay so.
   *
   * @param shard the shard
   * @param ids the ids; copied
   * @param count how many to read, from the first
   * @throws IndexOutOfBoundsException if the array is shorter than count
   * @throws IllegalStateException if stopped
   */
  public void cancel(int shard, long[] ids, int count) {
    checkCount(count, ids.length);
    for (int from = 0; from < count; from += Math.min(CHUNK, count - from)) {
      long[] someIds = chunk(ids, from, count);
      worker.submit(new ShardCommand(shard, someIds.length, 0, open -> open.cancel(someIds)));
    }
  }

  /**
   * Closes a shard and forgets its timers. A batch of it that is handed out no longer counts.
   *
   * @param shard the shard
   * @throws IllegalStateException if stopped
   */
  public void drop(int shard) {
    worker.submit(new WorkerCommand(1, w -> w.drop(shard)));
  }

  /**
   * Counts the timers of a shard: armed, or handed out and not done. Exact whenever the worker has
   * nothing left to do, else as of its last turn. O(1), never waits.
   *
   * @param shard the shard
   * @return the number of timers, 0 if the shard is not open
   */
  public long pending(int shard) {
    Shard open = worker.shard(shard);
    return open == null ? 0 : open.pending();
  }

  /**
   * Counts the timers of all shards, like {@link #pending(int)}. O(open shards), never waits.
   *
   * @return the number of timers
   */
  public long pending() {
    return worker.pending();
  }

  /**
   * Counts the timers that were handed out late: {@link TimersConfig#lateAfter()} or more behind
   * their deadlines, because the worker was stalled, the consumer of the shard slow, or the
   * deadline past when they were scheduled. Counted again if the batch was refused. O(1), never
   * waits.
   *
   * @return the number of timers since the start
   */
  public long late() {
    return worker.late();
  }

  /**
   * Estimates how many armed timers of all open shards are due at or before each of some times. See
   * {@link TimingWheel#forecast}; what is handed out does not count.
   *
   * @param timesMillis the times in milliseconds; copied
   * @return the number of timers for each of the times
   * @throws IllegalStateException if stopped
   */
  public CompletableFuture<long[]> forecast(long... timesMillis) {
    long[] times = timesMillis.clone();
    return worker.ask(1, w -> w.forecast(times));
  }

  /**
   * Looks up timers of a shard: armed, or handed out and not done. One that was armed anew while it
   * is handed out has the new deadline. Answered in pieces of 1024 timers, each as of one moment,
   * so that a large question does not hold up the worker; a piece is O(1024 + timers handed out).
   *
   * @param shard the shard; one that is not open knows no timer
   * @param ids the ids; copied
   * @param count how many to read, from the first
   * @return the deadline of each in milliseconds, or {@link #NOT_KNOWN}
   * @throws IndexOutOfBoundsException if the array is shorter than count
   * @throws IllegalStateException if stopped
   */
  public CompletableFuture<long[]> deadlines(int shard, long[] ids, int count) {
    checkCount(count, ids.length);
    long[] deadlinesMillis = new long[count];
    List<CompletableFuture<Void>> pieces = new ArrayList<>();
    for (int from = 0; from < count; from += Math.min(CHUNK, count - from)) {
      long[] someIds = chunk(ids, from, count);
      int start = from;
      pieces.add(
          worker
              .ask(someIds.length, w -> w.deadlines(shard, someIds))
              .thenAccept(
                  piece -> System.arraycopy(piece, 0, deadlinesMillis, start, piece.length)));
    }
    return CompletableFuture.allOf(pieces.toArray(CompletableFuture[]::new))
        .thenApply(all -> deadlinesMillis);
  }

  /**
   * Reads a page of the armed timers of a shard, to walk over millions of them in a running wheel
   * without copying them at once or holding up the worker. A walk begins with cursor 0, goes on
   * with the {@link ArmedTimers#nextCursor()} of each page, and ends with the page where that is 0.
   * A page may hold fewer timers than the limit, even none, though others follow.
   *
   * <p><b>Consistency.</b> A page is as of one moment, a walk is not: it goes through the ids in
   * the order of a hash, whatever happens to the timers, and passes each id once.
   *
   * <ul>
   *   <li>A timer that is armed all the time from the first page to the last is seen exactly once,
   *       with the deadline that it has at that moment, also if it is moved meanwhile.
   *   <li>No id is seen twice, and none that is not armed at the moment of its page.
   *   <li>A timer that is armed, cancelled or handed out during the walk may be seen or missed, and
   *       so may one that comes back because the listener refused it. What is handed out is not
   *       armed; {@link #deadlines} knows it.
   *   <li>If the shard is opened anew, the rest of the walk is among its new timers.
   * </ul>
   *
   * <p><b>Work.</b> For each page the worker looks at one segment of the index, at most some 6,000
   * timers in 25,000 places, and sorts those that remain in it if they exceed the limit. So a limit
   * far below 1000 makes a walk slow, and one above 6000 makes it no faster. A walk over n timers
   * takes up to 1 + n/1000 + n/limit pages.
   *
   * @param shard the shard; one that is not open has no armed timers
   * @param cursor 0, or the next cursor of a page
   * @param limit the most timers, at least 1; exceeded only by ids whose hashes of 31 bits are
   *     equal, which come together
   * @return the page
   * @throws IllegalArgumentException if the cursor is not one, or the limit is not positive
   * @throws IllegalStateException if stopped
   */
  public CompletableFuture<ArmedTimers> armed(int shard, long cursor, int limit) {
    if (cursor < 0 || cursor > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("cursor must be 0 or that of a page: " + cursor);
    }
    if (limit < 1) {
      throw new IllegalArgumentException("limit must be at least 1: " + limit);
    }
    return worker.ask(PAGE_WORK, w -> w.armed(shard, (int) cursor, limit));
  }

  /**
   * Says that the clock was corrected, so that the worker reads it anew instead of sleeping as long
   * as the old time told it to. Never waits; does nothing after {@link #stop()}.
   */
  public void clockChanged() {
    worker.wake();
  }

  /**
   * Stops the worker and waits for it: for the listener to return if it is running, and for every
   * change queued before. Batches that are not done stay with their consumers and are not among the
   * result. A second call returns the same.
   *
   * <p>An interrupt does not end the waiting; the thread's interrupt flag is kept.
   *
   * @return what was still armed, one element per open shard
   * @throws IllegalStateException if called by the listener, which would wait for itself
   */
  public List<ArmedTimers> stop() {
    if (worker.isCurrentThread()) {
      throw new IllegalStateException("stop() called on the worker thread; use close() there");
    }
    worker.beginStop();
    try {
      return worker.stopped().join();
    } catch (CompletionException e) {
      throw new IllegalStateException("stopped, but what was armed could not be gathered", e);
    }
  }

  /**
   * Stops like {@link #stop()}. Called by the listener, it does not wait: the worker ends when the
   * listener has returned.
   */
  @Override
  public void close() {
    if (worker.isCurrentThread()) {
      worker.beginStop();
    } else {
      stop();
    }
  }

  private static void checkCount(int count, int length) {
    Objects.checkFromIndexSize(0, count, length);
  }

  private static long[] chunk(long[] array, int from, int count) {
    return Arrays.copyOfRange(array, from, from + Math.min(CHUNK, count - from));
  }
}
