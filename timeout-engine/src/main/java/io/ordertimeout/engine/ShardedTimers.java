package io.ordertimeout.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Sharded timers for many threads: one {@link TimingWheel} per open shard, all driven by one worker
 * thread. Thread-safe.
 *
 * <pre>{@code
 * TimerClock clock = TimerClock.steady();
 * DueListener listener = DueListener.on(executor, batch -> cancelUnpaidOrders(batch.ids()));
 * try (ShardedTimers timers =
 *     new ShardedTimers(TimersConfig.defaults("order-wheel"), clock, listener)) {
 *   timers.open(0);
 *   timers.schedule(0, 42, clock.nowMillis() + 900_000);
 *   timers.cancel(0, 42);
 * }
 * }</pre>
 *
 * <p><b>Threading.</b> Changes from any thread are queued and take effect soon after; changes from
 * the same thread take effect in order. Queueing is lock-free while there is room. If the queue is
 * full, the caller blocks until there is room, so nothing is dropped and a producer that is too
 * fast is slowed down. An interrupt does not end the wait; the thread's interrupt flag is kept.
 * Calls from the {@link DueListener}, on the worker thread, never block. After {@link #stop()}
 * every change throws {@link IllegalStateException}, also for callers that were blocked. A change
 * made concurrently with the stop may throw although it took effect, but is never lost without
 * throwing.
 *
 * <p><b>Delivery.</b> Due timers are delivered to the {@link DueListener} in batches of one shard,
 * in the order of {@link TimingWheel#advance}, never early, and at most one batch per shard at a
 * time. A slow consumer holds back its own shard, whose due timers stay armed, and no other shard.
 * No timer is dropped.
 *
 * <p><b>Idle behaviour.</b> The worker parks until the earliest deadline, a change, {@link
 * DueBatch#done()} or {@link #clockChanged()}. It never polls, so a clock that jumps ahead is
 * noticed only then. A few distant timers cause no wake-ups before they are due; many timers in one
 * slot cause at most one per level of the wheel.
 *
 * <p><b>Shards that are not open</b> ignore changes. This is a cache of a store: the code that
 * opens a shard loads it from there.
 *
 * <p><b>Queries</b> are queued like changes and in the same order, so a thread's query sees the
 * thread's earlier changes. The worker completes the answer soon after, including the answers to
 * queries made before {@link #stop()}. Stages chained to an answer without an executor may run on
 * the worker thread and must not block there; nor may the {@link DueListener} wait for an answer.
 *
 * <p><b>Complexity.</b> A change costs the same as in the wheel, O(1) per timer. Each turn of the
 * worker adds O(open shards).
 */
public final class ShardedTimers implements AutoCloseable {

  /**
   * The maximum number of timers in one command, so that a large array does not occupy the worker.
   */
  static final int CHUNK = 1024;

  /**
   * The answer of {@link #deadlines} for a timer that is neither armed nor delivered. A timer
   * scheduled for exactly {@code Long.MIN_VALUE} milliseconds yields the same answer.
   */
  public static final long NOT_KNOWN = Long.MIN_VALUE;

  /** The cost of a page, in timers: it reads a segment of the index and several thousand timers. */
  private static final int PAGE_WORK = 4 * CHUNK;

  private final TimersWorker worker;

  /**
   * Creates an instance without shards. The worker, a daemon thread, starts with the first change.
   *
   * @param config the settings
   * @param clock the clock that deadlines are compared with
   * @param listener receives due timers
   */
  public ShardedTimers(TimersConfig config, TimerClock clock, DueListener listener) {
    this(config, clock, listener, ParkStrategy::parkCurrentThread);
  }

  ShardedTimers(
      TimersConfig config, TimerClock clock, DueListener listener, ParkStrategy parkStrategy) {
    Objects.requireNonNull(clock, "clock");
    Objects.requireNonNull(listener, "listener");
    worker = new TimersWorker(config, clock, listener, parkStrategy);
  }

  /**
   * Opens a shard with an empty wheel. A shard that is already open is replaced: its timers are
   * forgotten, and its outstanding batch, if any, no longer counts.
   *
   * @param shard the shard
   * @throws IllegalStateException if stopped
   */
  public void open(int shard) {
    worker.submit(new WorkerCommand(1, w -> w.open(shard, false)));
  }

  /**
   * Opens a shard like {@link #open} and prepares it for loading: until {@link #loaded} is called,
   * it remembers the ids that change, at a cost of 16 to 32 bytes per id.
   *
   * @param shard the shard
   * @throws IllegalStateException if stopped
   */
  public void openForLoading(int shard) {
    worker.submit(new WorkerCommand(1, w -> w.open(shard, true)));
  }

  /**
   * Loads timers from the shard's store while changes continue. Arms each timer that was neither
   * scheduled, nor cancelled, nor delivered since {@link #openForLoading}. Due timers are delivered
   * during loading, so load the nearest deadlines first. If the shard is not being loaded, arms
   * each timer that is not armed.
   *
   * @param shard the shard
   * @param ids the ids; copied
   * @param deadlinesMillis their deadlines in milliseconds; copied
   * @param count the number of leading elements to read from both arrays
   * @throws IndexOutOfBoundsException if an array is shorter than count
   * @throws IllegalStateException if stopped
   */
  public void load(int shard, long[] ids, long[] deadlinesMillis, int count) {
    checkCount(count, ids.length);
    checkCount(count, deadlinesMillis.length);
    for (int from = 0; from < count; from += Math.min(CHUNK, count - from)) {
      long[] someIds = chunk(ids, from, count);
      long[] someDeadlines = chunk(deadlinesMillis, from, count);
      worker.submit(
          new ShardCommand(shard, someIds.length, open -> open.load(someIds, someDeadlines)));
    }
  }

  /**
   * Ends the loading of a shard and discards the ids remembered for it.
   *
   * @param shard the shard
   * @throws IllegalStateException if stopped
   */
  public void loaded(int shard) {
    worker.submit(new ShardCommand(shard, 1, Shard::loaded));
  }

  /**
   * Arms a timer, or reschedules it if it is armed.
   *
   * @param shard the shard
   * @param id the timer's id, unique in its shard
   * @param deadlineMillis the deadline in milliseconds; a deadline in the past is due at once
   * @throws IllegalStateException if stopped
   */
  public void schedule(int shard, long id, long deadlineMillis) {
    worker.submit(new TimerChange(shard, id, true, deadlineMillis));
  }

  /**
   * Arms timers, or reschedules those that are armed. Much cheaper than one call per timer.
   *
   * @param shard the shard
   * @param ids the ids; copied
   * @param deadlinesMillis their deadlines in milliseconds; copied
   * @param count the number of leading elements to read from both arrays
   * @throws IndexOutOfBoundsException if an array is shorter than count
   * @throws IllegalStateException if stopped
   */
  public void schedule(int shard, long[] ids, long[] deadlinesMillis, int count) {
    checkCount(count, ids.length);
    checkCount(count, deadlinesMillis.length);
    for (int from = 0; from < count; from += Math.min(CHUNK, count - from)) {
      long[] someIds = chunk(ids, from, count);
      long[] someDeadlines = chunk(deadlinesMillis, from, count);
      worker.submit(
          new ShardCommand(shard, someIds.length, open -> open.schedule(someIds, someDeadlines)));
    }
  }

  /**
   * Cancels a timer. A timer that is not armed is ignored; a delivered one stays delivered.
   *
   * @param shard the shard
   * @param id the timer's id
   * @throws IllegalStateException if stopped
   */
  public void cancel(int shard, long id) {
    worker.submit(new TimerChange(shard, id, false, 0));
  }

  /**
   * Cancels timers. Timers that are not armed are ignored; delivered ones stay delivered.
   *
   * @param shard the shard
   * @param ids the ids; copied
   * @param count the number of leading elements to read
   * @throws IndexOutOfBoundsException if the array is shorter than count
   * @throws IllegalStateException if stopped
   */
  public void cancel(int shard, long[] ids, int count) {
    checkCount(count, ids.length);
    for (int from = 0; from < count; from += Math.min(CHUNK, count - from)) {
      long[] someIds = chunk(ids, from, count);
      worker.submit(new ShardCommand(shard, someIds.length, open -> open.cancel(someIds)));
    }
  }

  /**
   * Closes a shard and forgets its timers. Its outstanding batch, if any, no longer counts.
   *
   * @param shard the shard
   * @throws IllegalStateException if stopped
   */
  public void drop(int shard) {
    worker.submit(new WorkerCommand(1, w -> w.drop(shard)));
  }

  /**
   * Returns the number of pending timers in a shard: armed, or delivered and not done. Exact while
   * the worker is idle, otherwise as of its last turn. O(1), never blocks.
   *
   * @param shard the shard
   * @return the number of timers, 0 if the shard is not open
   */
  public long pending(int shard) {
    Shard open = worker.shard(shard);
    return open == null ? 0 : open.pending();
  }

  /**
   * Returns the number of pending timers in all shards, counted like {@link #pending(int)}. O(1),
   * never blocks.
   *
   * @return the number of timers
   */
  public long pending() {
    return worker.pending();
  }

  /**
   * Returns the number of timers that were delivered late: at least {@link
   * TimersConfig#lateAfter()} past their deadlines, because the worker was stalled, the shard's
   * consumer was slow, or the deadline had already passed when the timer was scheduled. A timer
   * whose batch was rejected is counted again. O(1), never blocks.
   *
   * @return the number of timers since the start
   */
  public long late() {
    return worker.late();
  }

  /**
   * Estimates how many armed timers of all open shards are due at or before each of the given
   * times. See {@link TimingWheel#forecast}. Delivered timers are not counted.
   *
   * @param timesMillis the times in milliseconds; copied
   * @return the number of timers for each time
   * @throws IllegalStateException if stopped
   */
  public CompletableFuture<long[]> forecast(long... timesMillis) {
    long[] times = timesMillis.clone();
    return worker.query(1, w -> w.forecast(times));
  }

  /**
   * Looks up timers of a shard that are armed, or delivered and not done. A timer that was armed
   * again while it is delivered has the new deadline. Large queries are answered in pieces of 1024
   * timers so that they do not occupy the worker. Each piece is a snapshot and costs O(1024 +
   * timers delivered).
   *
   * @param shard the shard; one that is not open has no timers
   * @param ids the ids; copied
   * @param count the number of leading elements to read
   * @return the deadline of each timer in milliseconds, or {@link #NOT_KNOWN}
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
              .query(someIds.length, w -> w.deadlines(shard, someIds))
              .thenAccept(
                  piece -> System.arraycopy(piece, 0, deadlinesMillis, start, piece.length)));
    }
    return CompletableFuture.allOf(pieces.toArray(CompletableFuture[]::new))
        .thenApply(all -> deadlinesMillis);
  }

  /**
   * Returns a page of the armed timers of a shard. Pages make it possible to iterate over millions
   * of timers of a running wheel without copying them at once or occupying the worker. An iteration
   * begins with cursor 0, continues with the {@link ArmedTimers#nextCursor()} of each page, and
   * ends with the page whose next cursor is 0. A page may contain fewer timers than the limit, or
   * none, although more pages follow.
   *
   * <p><b>Consistency.</b> Each page is a snapshot; the iteration as a whole is not. It visits the
   * ids in the order of a hash that does not depend on changes to the timers, and passes each id
   * once.
   *
   * <ul>
   *   <li>A timer that stays armed from the first page to the last is returned exactly once, with
   *       its deadline at that moment, even if it is rescheduled meanwhile.
   *   <li>No id is returned twice, and no id is returned that is not armed at the moment of its
   *       page.
   *   <li>A timer that is armed, cancelled or delivered during the iteration may be returned or
   *       missed, and so may one that is armed again because the listener rejected it. Delivered
   *       timers are not armed; use {@link #deadlines} to find them.
   *   <li>If the shard is reopened, the rest of the iteration covers its new timers.
   * </ul>
   *
   * <p><b>Cost.</b> For each page the worker reads one segment of the index, which has at most some
   * 6,000 timers in 25,000 places, and sorts the remaining timers of the segment if they exceed the
   * limit. A limit far below 1000 therefore makes an iteration slow, and one above 6000 makes it no
   * faster. Iterating over n timers takes up to 1 + n/1000 + n/limit pages.
   *
   * @param shard the shard; one that is not open has no armed timers
   * @param cursor 0, or the next cursor of a page
   * @param limit the maximum number of timers, at least 1; exceeded only by ids whose 31-bit hashes
   *     are equal, which are returned together
   * @return the page
   * @throws IllegalArgumentException if the cursor is invalid or the limit is not positive
   * @throws IllegalStateException if stopped
   */
  public CompletableFuture<ArmedTimers> armed(int shard, long cursor, int limit) {
    if (cursor < 0 || cursor > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "cursor must be 0 or the next cursor of a page: " + cursor);
    }
    if (limit < 1) {
      throw new IllegalArgumentException("limit must be at least 1: " + limit);
    }
    return worker.query(PAGE_WORK, w -> w.armedPage(shard, (int) cursor, limit));
  }

  /**
   * Notifies the worker that the clock was corrected, so that it reads the clock again instead of
   * sleeping for a time computed from the old value. Never blocks; has no effect after {@link
   * #stop()}.
   */
  public void clockChanged() {
    worker.wake();
  }

  /**
   * Stops the worker and waits until a running call of the listener has returned and every change
   * queued before has been applied. Batches that are not done stay with their consumers and are not
   * part of the result. The timers are handed over, so a later call returns none and a stopped
   * instance keeps no memory for them.
   *
   * <p>An interrupt does not end the wait; the thread's interrupt flag is kept.
   *
   * @return the timers that were still armed, one element per open shard; empty if an earlier call
   *     has returned or discarded them
   * @throws IllegalStateException if called by the listener, which would wait for itself
   */
  public List<ArmedTimers> stop() {
    if (worker.isCurrentThread()) {
      throw new IllegalStateException("stop() called on the worker thread; use close() there");
    }
    worker.beginStop();
    try {
      return worker.awaitStop();
    } catch (CompletionException e) {
      throw new IllegalStateException("stopped, but the armed timers could not be collected", e);
    }
  }

  /**
   * Stops like {@link #stop()} and discards the armed timers. If called by the listener, it does
   * not wait: the worker ends when the listener has returned.
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
