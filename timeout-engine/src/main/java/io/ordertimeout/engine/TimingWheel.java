package io.ordertimeout.engine;

import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;

/**
 * A hierarchical hashed timing wheel whose timers are identified by a long and due at a time in
 * milliseconds.
 *
 * <pre>{@code
 * TimingWheel wheel = new TimingWheel(10, nowMillis);
 * wheel.schedule(42, nowMillis + 900_000);
 * int expired = wheel.advance(laterMillis, (id, deadlineMillis) -> expire(id), 1000);
 * }</pre>
 *
 * <p><b>Semantics.</b> A timer is due at the first multiple of the tick at or after its deadline
 * (at {@code Long.MAX_VALUE} if no multiple follows), never before its deadline. Deadlines and
 * times may be any value from {@code Long.MIN_VALUE} to {@code Long.MAX_VALUE}, including negative
 * ones.
 *
 * <p><b>Threading.</b> None: a wheel has no thread, no clock and no lock. It must be used by one
 * thread at a time, which passes in the current time. {@link ShardedTimers} is the thread-safe
 * alternative.
 *
 * <p><b>Complexity.</b> {@link #schedule}, {@link #cancel} and {@link #contains} are O(1). A timer
 * cascades at most five times before it is due, so expiring n timers is O(n). Empty slots are never
 * scanned, however far the time advances. No call copies more than half a megabyte, whatever the
 * size. Once the timers outgrow the processor's caches, the bulk methods are several times faster
 * per timer than the single ones, because they overlap cache misses.
 *
 * <p><b>Memory.</b> About 32 bytes per timer, including the index by id, when there are many; no
 * object per timer; freed as timers leave. After an {@code OutOfMemoryError} a wheel must not be
 * used any more. Ids chosen to collide under MurmurHash3's finalizer make a wheel slow but not
 * incorrect.
 */
public final class TimingWheel {

  /*
   * Ticks are stored with the sign bit flipped, so that their unsigned order is chronological.
   *
   * A timer whose tick is before the position, because it was armed late or the time went back, is
   * kept in a second, usually empty set of levels whose position is further in the past. All overdue
   * timers are expired before all upcoming ones, also in tick order. An overdue timer whose tick is
   * even before that second position is clamped to it.
   */

  /** The end of time, as an unsigned tick. */
  private static final long NEVER = -1;

  /** How many ticks older than the first overdue timer others may be and still not be clamped. */
  private static final long OVERDUE_RANGE = 1L << 31;

  /** The capacity limit of any wheel. */
  static final int MAX_TIMERS = 1 << 29;

  /** The minimum number of timers to cascade at a time. */
  private static final int MIN_CASCADE = 32;

  private final long tickMillis;
  private final int maxTimers;
  private final long lastTick;

  final TimerIndex index = new TimerIndex();
  final TimerLists timers = new TimerLists(2 * WheelGeometry.SLOTS, index);
  final WheelGeometry upcoming;
  final WheelGeometry overdue;
  int overdueCount;

  /**
   * A lower bound of the ticks that were clamped to the position of {@link #overdue}; NEVER if none
   * was.
   */
  long earliestClamped = NEVER;

  /** The latest tick of an overdue timer that was passed since there were none; 0 if none was. */
  private long latestOverduePassed;

  /** Whether timers may be clamped that have to expire in order. */
  private boolean clampedOutOfOrder;

  private final Prefetcher prefetcher = new Prefetcher(index, timers, this::slotOfDeadline);

  private boolean advancing;

  /** How many timers the current call of advance() may still touch. */
  private int budget;

  /** How many timers the current call of advance() has delivered. */
  private int deliveredCount;

  /** Counts the changes that may relocate timers. */
  private int changes;

  /** Whether the handler has not changed the timer that was passed to it. */
  private boolean handlerLeftTimerAlone;

  private long idInHandler;

  /**
   * Creates an empty wheel for up to 2<sup>29</sup> timers.
   *
   * @param tickMillis the resolution in milliseconds, at least 1
   * @param nowMillis the current time in milliseconds
   * @throws IllegalArgumentException if the tick is not positive
   */
  public TimingWheel(long tickMillis, long nowMillis) {
    this(tickMillis, nowMillis, MAX_TIMERS);
  }

  /**
   * Creates an empty wheel.
   *
   * @param tickMillis the resolution in milliseconds, at least 1
   * @param nowMillis the current time in milliseconds
   * @param maxTimers the maximum number of armed timers, 1 to 2<sup>29</sup>
   * @throws IllegalArgumentException if the tick is not positive or the limit is out of range
   */
  public TimingWheel(long tickMillis, long nowMillis, int maxTimers) {
    if (tickMillis < 1) {
      throw new IllegalArgumentException("tickMillis must be at least 1: " + tickMillis);
    }
    if (maxTimers < 1 || maxTimers > MAX_TIMERS) {
      throw new IllegalArgumentException("maxTimers must be 1 to " + MAX_TIMERS + ": " + maxTimers);
    }
    this.tickMillis = tickMillis;
    this.maxTimers = maxTimers;
    this.lastTick = tickAtOrAfter(Long.MAX_VALUE);
    this.upcoming = new WheelGeometry(0, tickAtOrBefore(nowMillis));
    this.overdue = new WheelGeometry(WheelGeometry.SLOTS, upcoming.position());
  }

  /**
   * Arms a timer, or reschedules it if it is armed. O(1).
   *
   * @param id the timer's id
   * @param deadlineMillis the deadline in milliseconds; a deadline in the past is due at once
   * @return true if the timer was not armed before
   * @throws RejectedExecutionException if the timer is not armed and the wheel is full
   */
  public boolean schedule(long id, long deadlineMillis) {
    recordChange(id);
    int location = index.find(id, timers);
    if (location != TimerLists.NONE) {
      reschedule(id, location, deadlineMillis);
      return false;
    }
    armNotFound(id, deadlineMillis);
    return true;
  }

  /** Arms the timer that {@link TimerIndex#find} has just failed to find. */
  private void armNotFound(long id, long deadlineMillis) {
    if (timers.size() >= maxTimers) {
      throw new RejectedExecutionException(
          "the wheel is full: it holds "
              + maxTimers
              + " timers; rejected timer "
              + id
              + ", due at "
              + deadlineMillis);
    }
    index.addNotFound(addToList(slotForArming(tickAtOrAfter(deadlineMillis)), id, deadlineMillis));
  }

  /**
   * Arms timers in order, or reschedules those that are armed. O(count), and much faster than
   * single calls if the wheel is large.
   *
   * @param ids the ids
   * @param deadlinesMillis their deadlines in milliseconds
   * @param count the number of leading elements to read from both arrays
   * @return the number of timers that were not armed before
   * @throws IndexOutOfBoundsException if an array is shorter than count; nothing has changed then
   * @throws RejectedExecutionException when the wheel is full; the timers before the rejected one
   *     are armed
   */
  public int schedule(long[] ids, long[] deadlinesMillis, int count) {
    Objects.checkFromIndexSize(0, count, ids.length);
    Objects.checkFromIndexSize(0, count, deadlinesMillis.length);
    int armed = 0;
    for (int i = 0; i < count; i++) {
      if (i % Prefetcher.GROUP_SIZE == 0) {
        prefetcher.prefetchForSchedule(
            ids, deadlinesMillis, i, Math.min(i + Prefetcher.GROUP_SIZE, count));
      }
      if (schedule(ids[i], deadlinesMillis[i])) {
        armed++;
      }
    }
    return armed;
  }

  /**
   * Arms those of the timers that are not armed. O(count), as fast as the bulk {@code schedule}.
   */
  void scheduleAbsent(long[] ids, long[] deadlinesMillis, int count) {
    for (int i = 0; i < count; i++) {
      if (i % Prefetcher.GROUP_SIZE == 0) {
        prefetcher.prefetchForSchedule(
            ids, deadlinesMillis, i, Math.min(i + Prefetcher.GROUP_SIZE, count));
      }
      recordChange(ids[i]);
      if (index.find(ids[i], timers) == TimerLists.NONE) {
        armNotFound(ids[i], deadlinesMillis[i]);
      }
    }
  }

  /**
   * Cancels a timer. O(1).
   *
   * @param id the timer's id
   * @return true if the timer was armed
   */
  public boolean cancel(long id) {
    recordChange(id);
    int location = index.find(id, timers);
    if (location == TimerLists.NONE) {
      return false;
    }
    index.removeFound();
    removeFromList(location);
    return true;
  }

  /**
   * Cancels timers. O(count), and much faster than single calls if the wheel is large.
   *
   * @param ids the ids
   * @param count the number of leading elements to read
   * @return the number of timers that were armed
   * @throws IndexOutOfBoundsException if the array is shorter than count; nothing has changed then
   */
  public int cancel(long[] ids, int count) {
    Objects.checkFromIndexSize(0, count, ids.length);
    int disarmed = 0;
    for (int i = 0; i < count; i++) {
      if (i % Prefetcher.GROUP_SIZE == 0) {
        prefetcher.prefetchForCancel(ids, i, Math.min(i + Prefetcher.GROUP_SIZE, count));
      }
      if (cancel(ids[i])) {
        disarmed++;
      }
    }
    return disarmed;
  }

  /**
   * Returns whether a timer is armed. O(1).
   *
   * @param id the timer's id
   * @return true if it is armed
   */
  public boolean contains(long id) {
    return index.find(id, timers) != TimerLists.NONE;
  }

  /**
   * Returns the number of armed timers. O(1).
   *
   * @return the number of timers
   */
  public int size() {
    return timers.size();
  }

  /**
   * Passes due timers to the handler, earlier ticks first, and disarms those that it accepts.
   * Timers that became due since the last call, or were already due when armed, are passed in order
   * as well. The order within a tick is undefined, as is the position of a timer that is armed
   * after timers with later ticks were passed.
   *
   * <p>The work per call is bounded: {@code limit} timers passed or cascaded. The result may
   * therefore be 0 although work remains. Work remains as long as {@link #nextDeadlineMillis()} is
   * not after {@code nowMillis}.
   *
   * <p>If the handler throws or rejects a timer, that timer and all later ones stay armed. The
   * handler may schedule and cancel; a timer that it arms and that is already due is passed in the
   * same call, within the limit. It must not call {@code advance}.
   *
   * <p>The time may go back. Timers already accepted stay disarmed, and only timers due by the
   * given time are passed.
   *
   * <p>The first call after the time went back, or after timers were armed more than 2<sup>31</sup>
   * ticks before the first one that was already due when armed, costs O(timers that were already
   * due when armed), in addition to the limit.
   *
   * @param nowMillis the current time in milliseconds
   * @param handler receives the timers
   * @param limit the maximum number of timers to touch, at least 1
   * @return the number of timers that the handler accepted
   * @throws IllegalArgumentException if the limit is not positive
   * @throws IllegalStateException if called by the handler
   */
  public int advance(long nowMillis, TimerHandler handler, int limit) {
    Objects.requireNonNull(handler, "handler");
    if (limit < 1) {
      throw new IllegalArgumentException("limit must be at least 1: " + limit);
    }
    if (advancing) {
      throw new IllegalStateException("advance() must not be called by its handler");
    }
    advancing = true;
    try {
      return deliverDue(tickAtOrBefore(nowMillis), handler, limit);
    } finally {
      advancing = false;
      handlerLeftTimerAlone = false;
    }
  }

  /**
   * Returns the earliest time at which {@link #advance} may have work, either passing or cascading
   * timers. Never later than the time at which the first timer is due, and exactly that time if
   * there are few timers. O(1).
   *
   * @return the time in milliseconds, {@code Long.MAX_VALUE} if the wheel is empty
   */
  public long nextDeadlineMillis() {
    if (timers.size() == 0) {
      return Long.MAX_VALUE;
    }
    if (overdueCount == 0) {
      return millisOf(earliestTick(upcoming));
    }
    long next = earliestTick(overdue);
    return millisOf(anyClamped() && isBefore(earliestClamped, next) ? earliestClamped : next);
  }

  /**
   * Estimates how many timers are due at or before each of the given times, without reading every
   * timer. The count is exact except for the slot of each level that contains the time; of that
   * slot it counts the elapsed share, as if its timers were spread evenly. O(occupied slots).
   *
   * @param timesMillis the times in milliseconds
   * @return the number of timers for each time
   */
  public long[] forecast(long... timesMillis) {
    long[] ticks = new long[timesMillis.length];
    for (int i = 0; i < ticks.length; i++) {
      ticks[i] = tickAtOrBefore(timesMillis[i]);
    }
    DueEstimate estimate = new DueEstimate(timers, this::tickAtOrAfter, lastTick, ticks);
    for (int slot = timers.firstOccupied(0, 2 * WheelGeometry.SLOTS);
        slot >= 0;
        slot = timers.firstOccupied(slot + 1, 2 * WheelGeometry.SLOTS)) {
      estimate.add(slot < WheelGeometry.SLOTS ? upcoming : overdue, slot);
    }
    return estimate.counts();
  }

  /**
   * Passes armed timers to the handler, each once and in no particular order, until it rejects one.
   * O(timers).
   *
   * @param handler receives the timers; must not change the wheel
   */
  public void forEach(TimerHandler handler) {
    for (int slot = timers.firstOccupied(0, 2 * WheelGeometry.SLOTS);
        slot >= 0;
        slot = timers.firstOccupied(slot + 1, 2 * WheelGeometry.SLOTS)) {
      for (int location = timers.last(slot);
          location != TimerLists.NONE;
          location = timers.before(location)) {
        if (!handler.take(timers.id(location), timers.deadlineMillis(location))) {
          return;
        }
      }
    }
  }

  /**
   * Returns the deadline of a timer. O(1).
   *
   * @param id the timer's id
   * @param defaultMillis what to return if the timer is not armed
   * @return the deadline in milliseconds, or the default
   */
  public long deadlineMillisOr(long id, long defaultMillis) {
    int location = index.find(id, timers);
    return location == TimerLists.NONE ? defaultMillis : timers.deadlineMillis(location);
  }

  /**
   * Returns a page of the armed timers for {@link ShardedTimers#armed}. The cursor is a position of
   * {@link TimerIndex#scanSegment}.
   */
  ArmedTimers armedPage(int shard, int cursor, int limit) {
    return ArmedTimers.page(shard, index, timers, cursor, limit);
  }

  /** Returns the memory used by the timers, in bytes. */
  long bytes() {
    return index.bytes() + timers.bytes();
  }

  private int deliverDue(long target, TimerHandler handler, int limit) {
    budget = limit;
    deliveredCount = 0;
    boolean rejected = false;
    while (budget > 0 && !rejected) {
      if (mustRewindOverdue(target)) {
        rewindOverdue();
      }
      WheelGeometry geometry = overdueCount > 0 ? overdue : upcoming;
      long until = geometry == upcoming ? target : earlier(target, upcoming.position());
      int slot = geometry.firstOccupied(timers);
      if (slot < 0 || isBefore(until, geometry.firstTick(slot))) {
        advanceTo(geometry, until);
        break;
      }
      advanceTo(geometry, geometry.firstTick(slot));
      if (geometry.levelOf(slot) > 0) {
        cascade(geometry, slot, budget);
      } else {
        rejected = !deliverSlot(geometry, slot, handler);
      }
    }
    return deliveredCount;
  }

  /** Passes the timers of a slot of level 0 to the handler. Returns false if it rejects one. */
  private boolean deliverSlot(WheelGeometry geometry, int slot, TimerHandler handler) {
    for (int group = 0; budget > 0; group++) {
      int location = timers.last(slot);
      // Timers that the handler has armed before the position come first.
      boolean armedBefore = geometry == upcoming ? overdueCount > 0 : clampedOutOfOrder;
      if (location == TimerLists.NONE || armedBefore) {
        return true;
      }
      if (group % Prefetcher.GROUP_SIZE == 0) {
        prefetcher.prefetchForRemoval(slot, budget);
      }
      budget--;
      if (!deliver(location, handler)) {
        return false;
      }
      deliveredCount++;
    }
    return true;
  }

  private boolean deliver(int location, TimerHandler handler) {
    long id = timers.id(location);
    idInHandler = id;
    handlerLeftTimerAlone = true;
    int changesBefore = changes;
    long deadlineMillis = timers.deadlineMillis(location);
    if (overdueCount > 0) {
      latestOverduePassed = later(latestOverduePassed, tickAtOrAfter(deadlineMillis));
    }
    if (!handler.take(id, deadlineMillis)) {
      return false;
    }
    if (handlerLeftTimerAlone) {
      remove(id, changes == changesBefore ? location : index.find(id, timers));
    }
    return true;
  }

  /** Moves timers of a slot in a level's current or next revolution to the levels below. */
  private void cascade(WheelGeometry geometry, int slot, int limit) {
    int count = Math.min(Math.min(limit, budget), timers.count(slot));
    for (int i = 0; i < count; i++) {
      if (i % Prefetcher.GROUP_SIZE == 0) {
        prefetcher.prefetchForRemoval(slot, count - i);
      }
      int location = timers.last(slot);
      long id = timers.id(location);
      long deadlineMillis = timers.deadlineMillis(location);
      int lower = geometry.slotOf(tickAtOrAfter(deadlineMillis));
      index.relocated(id, location, timers.add(lower, id, deadlineMillis));
      timers.remove(location);
    }
    budget -= count;
  }

  /**
   * Advances the position and cascades the proportional share of each level's next revolution, so
   * that the cascade is complete when that revolution begins.
   */
  private void advanceTo(WheelGeometry geometry, long tick) {
    long before = geometry.position();
    if (!isBefore(before, tick)) {
      return;
    }
    geometry.setPosition(tick);
    if (geometry == overdue) {
      forgetClamped();
    }
    for (int level = 0; level < WheelGeometry.LEVELS - 1; level++) {
      int slot = geometry.nextRevolutionSlot(level);
      int count = timers.count(slot);
      if (count > 0) {
        double start =
            WheelGeometry.sameRevolution(level, before, tick) ? geometry.elapsed(level, before) : 0;
        double share = (geometry.elapsed(level, tick) - start) / (1 - start);
        cascade(geometry, slot, Math.max(MIN_CASCADE, (int) Math.ceil(count * share)));
      }
    }
  }

  /** Returns whether clamped timers are due that would not expire in order, or not yet. */
  private boolean mustRewindOverdue(long target) {
    return overdueCount > 0
        && anyClamped()
        && !isBefore(target, earliestClamped)
        && (clampedOutOfOrder || isBefore(target, overdue.position()));
  }

  /** Moves the position of the overdue timers back so that none is clamped. */
  private void rewindOverdue() {
    long[] ids = new long[overdueCount];
    int count = 0;
    for (int slot = timers.firstOccupied(WheelGeometry.SLOTS, 2 * WheelGeometry.SLOTS);
        slot >= 0;
        slot = timers.firstOccupied(slot + 1, 2 * WheelGeometry.SLOTS)) {
      for (int location = timers.last(slot);
          location != TimerLists.NONE;
          location = timers.before(location)) {
        ids[count++] = timers.id(location);
      }
    }
    overdue.setPosition(earliestClamped);
    forgetClamped();
    for (long id : ids) {
      int location = index.find(id, timers);
      reschedule(id, location, timers.deadlineMillis(location));
    }
  }

  private void reschedule(long id, int location, long deadlineMillis) {
    int slot = slotForArming(tickAtOrAfter(deadlineMillis));
    if (timers.slot(location) == slot) {
      timers.setDeadlineMillis(location, deadlineMillis);
      return;
    }
    // In this order the index can always look up every timer in the lists.
    index.relocated(id, location, addToList(slot, id, deadlineMillis));
    removeFromList(location);
  }

  private void remove(long id, int location) {
    index.remove(id, location);
    removeFromList(location);
  }

  private int addToList(int slot, long id, long deadlineMillis) {
    if (slot >= WheelGeometry.SLOTS) {
      overdueCount++;
    }
    return timers.add(slot, id, deadlineMillis);
  }

  private void removeFromList(int location) {
    if (timers.slot(location) >= WheelGeometry.SLOTS) {
      overdueCount--;
    }
    timers.remove(location);
  }

  /** Returns the slot of a tick, given the current positions. */
  private int slotOf(long tick) {
    if (!isBefore(tick, upcoming.position())) {
      return upcoming.slotOf(tick);
    }
    return overdue.slotOf(isBefore(tick, overdue.position()) ? overdue.position() : tick);
  }

  /** Returns the slot for a timer that is being armed or rescheduled. */
  private int slotForArming(long tick) {
    if (isBefore(tick, upcoming.position())) {
      if (overdueCount == 0) {
        overdue.setPosition(isBefore(tick, OVERDUE_RANGE) ? 0 : tick - OVERDUE_RANGE);
        forgetClamped();
        latestOverduePassed = 0;
      }
      if (isBefore(tick, overdue.position())) {
        earliestClamped = anyClamped() ? earlier(tick, earliestClamped) : tick;
        clampedOutOfOrder |= !isBefore(tick, latestOverduePassed);
      }
    }
    return slotOf(tick);
  }

  private void forgetClamped() {
    earliestClamped = NEVER;
    clampedOutOfOrder = false;
  }

  /** Returns whether a timer may be clamped to the position of {@link #overdue}. */
  private boolean anyClamped() {
    return earliestClamped != NEVER && !timers.isEmpty(overdue.slotOf(overdue.position()));
  }

  private void recordChange(long id) {
    changes++;
    if (id == idInHandler) {
      handlerLeftTimerAlone = false;
    }
  }

  /**
   * Prefetches for changing these timers one by one, which makes the changes several times faster.
   */
  void prefetch(long[] ids, int count) {
    for (int from = 0; from < count; from += Prefetcher.GROUP_SIZE) {
      prefetcher.prefetchForCancel(ids, from, Math.min(from + Prefetcher.GROUP_SIZE, count));
    }
  }

  private int slotOfDeadline(long deadlineMillis) {
    return slotOf(tickAtOrAfter(deadlineMillis));
  }

  /** Returns a lower bound of the earliest tick in a set of levels. */
  private long earliestTick(WheelGeometry geometry) {
    long next = NEVER;
    for (int level = 0; level < WheelGeometry.LEVELS; level++) {
      int slot = geometry.firstOccupied(level, timers);
      if (slot >= 0) {
        next = earlier(next, earliestTick(geometry, slot));
      }
    }
    return next;
  }

  /** Returns the earliest tick of a slot if it has few timers, otherwise the slot's first tick. */
  private long earliestTick(WheelGeometry geometry, int slot) {
    if (geometry.levelOf(slot) == 0 || !timers.isShort(slot)) {
      return geometry.firstTick(slot);
    }
    long first = NEVER;
    for (int location = timers.last(slot);
        location != TimerLists.NONE;
        location = timers.before(location)) {
      first = earlier(first, tickAtOrAfter(timers.deadlineMillis(location)));
    }
    return first;
  }

  static boolean isBefore(long tick, long otherTick) {
    return Long.compareUnsigned(tick, otherTick) < 0;
  }

  static long earlier(long tick, long otherTick) {
    return isBefore(tick, otherTick) ? tick : otherTick;
  }

  private static long later(long tick, long otherTick) {
    return isBefore(tick, otherTick) ? otherTick : tick;
  }

  long tickAtOrAfter(long millis) {
    long tick = Math.floorDiv(millis, tickMillis);
    return (tick * tickMillis == millis ? tick : tick + 1) ^ Long.MIN_VALUE;
  }

  private long tickAtOrBefore(long millis) {
    // At the end of time every timer is due.
    return millis == Long.MAX_VALUE ? lastTick : Math.floorDiv(millis, tickMillis) ^ Long.MIN_VALUE;
  }

  private long millisOf(long unsignedTick) {
    if (unsignedTick == lastTick) {
      return Long.MAX_VALUE;
    }
    long tick = unsignedTick ^ Long.MIN_VALUE;
    return tick < 0 && tick < Long.MIN_VALUE / tickMillis ? Long.MIN_VALUE : tick * tickMillis;
  }
}
