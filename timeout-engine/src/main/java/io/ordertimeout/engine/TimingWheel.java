package io.ordertimeout.engine;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;

/**
 * A hierarchical hashed timing wheel: timers known by a long, due at a long of milliseconds.
 *
 * <p><b>Meaning.</b> A timer is due at the first multiple of the tick at or after its deadline (at
 * the end of time, {@code Long.MAX_VALUE}, if no multiple follows), never before its deadline.
 * Every deadline and every time from {@code Long.MIN_VALUE} to {@code Long.MAX_VALUE} is allowed,
 * negative ones too.
 *
 * <p><b>Threading.</b> None: a wheel has no thread, no clock and no lock. One thread at a time uses
 * it and tells it the time. {@link ShardedTimers} does so.
 *
 * <p><b>Complexity.</b> {@link #schedule}, {@link #cancel} and {@link #contains} are O(1); a timer
 * moves at most five times before it is due, so handing out n timers is O(n). Empty slots are never
 * walked, however long they are. No call copies more than half a megabyte, whatever the size. The
 * calls that take many ids are several times faster for each than those that take one, once the
 * timers outgrow the processor's caches: they overlap the waits for memory.
 *
 * <p><b>Memory.</b> About 32 bytes a timer, found by its id, when there are many; no object per
 * timer; given back as timers leave. After an {@code OutOfMemoryError} a wheel must not be used any
 * more. Ids that are made to collide under MurmurHash3's finalizer make a wheel slow, not wrong.
 */
public final class TimingWheel {

  /*
   * Ticks are kept with the sign bit flipped, so that their unsigned order is the order of time.
   *
   * A timer whose tick lies before the position, armed when its time had passed or when the time had
   * gone back, hangs in a second set of levels, usually empty, whose position lies further back. All
   * of them come before all of the others, in the order of their ticks too. What lies even before the
   * position of those hangs at that position.
   */

  /** The end of time, as an unsigned tick. */
  private static final long NEVER = -1;

  /** How far behind the first overdue timer others may be and still come in order, in ticks. */
  private static final long REACH_BACK = 1L << 31;

  /** The most timers that any wheel holds. */
  static final int MAX_TIMERS = 1 << 29;

  /** Timers that move down together at least. */
  private static final int MOVED_TOGETHER = 32;

  /** In lists up to this long the first of the deadlines is looked up rather than estimated. */
  private static final int SHORT_LIST = 8;

  private final long tickMillis;
  private final int maxTimers;
  private final long lastTick;

  final TimerIndex index = new TimerIndex();
  final TimerLists timers = new TimerLists(2 * Levels.SLOTS, index);
  final Levels ahead;
  final Levels behind;
  int behindCount;

  /** A lower bound of the ticks that came too late even for {@link #behind}; NEVER if none did. */
  long earliestMissed = NEVER;

  private final LookAhead lookAhead = new LookAhead(index, timers, this::slotOfDeadline);

  private boolean advancing;

  /** How many timers the present call to advance() may still touch, and how many were taken. */
  private int budget;

  private int taken;

  /** Counts what may give timers another location. */
  private int changes;

  /** Whether the handler has left the timer alone that it was given. */
  private boolean givenUntouched;

  private long givenId;

  /**
   * Makes an empty wheel that holds up to 2<sup>29</sup> timers.
   *
   * @param tickMillis the resolution in milliseconds, at least 1
   * @param nowMillis the time now in milliseconds
   * @throws IllegalArgumentException if the tick is not positive
   */
  public TimingWheel(long tickMillis, long nowMillis) {
    this(tickMillis, nowMillis, MAX_TIMERS);
  }

  /**
   * Makes an empty wheel.
   *
   * @param tickMillis the resolution in milliseconds, at least 1
   * @param nowMillis the time now in milliseconds
   * @param maxTimers how many timers may be armed at a time, 1 to 2<sup>29</sup>
   * @throws IllegalArgumentException if the tick is not positive, or the limit is out of its range
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
    this.ahead = new Levels(0, tickAtOrBefore(nowMillis));
    this.behind = new Levels(Levels.SLOTS, ahead.position());
  }

  /**
   * Arms a timer, or moves it if it is armed. O(1).
   *
   * @param id the timer's id
   * @param deadlineMillis the deadline in milliseconds; one in the past is due at once
   * @return true if the timer was not armed before
   * @throws RejectedExecutionException if the timer is not armed and the wheel is full
   */
  public boolean schedule(long id, long deadlineMillis) {
    noteChange(id);
    int location = index.find(id, timers);
    if (location != TimerLists.NONE) {
      move(id, location, deadlineMillis);
      return false;
    }
    if (timers.size() >= maxTimers) {
      throw new RejectedExecutionException(
          "the wheel is full with "
              + maxTimers
              + " timers; not armed: timer "
              + id
              + ", due at "
              + deadlineMillis);
    }
    index.addMissed(add(slotToArm(tickAtOrAfter(deadlineMillis)), id, deadlineMillis));
    return true;
  }

  /**
   * Arms timers, or moves those that are armed, in this order. O(count), and much faster than one
   * by one when the wheel is large.
   *
   * @param ids the ids
   * @param deadlinesMillis their deadlines in milliseconds
   * @param count how many of both to read, from the first
   * @return how many of them were not armed before
   * @throws IndexOutOfBoundsException if an array is shorter than count; nothing has changed then
   * @throws RejectedExecutionException at the first timer that the wheel is too full for; those in
   *     front of it are armed
   */
  public int schedule(long[] ids, long[] deadlinesMillis, int count) {
    Objects.checkFromIndexSize(0, count, ids.length);
    Objects.checkFromIndexSize(0, count, deadlinesMillis.length);
    int armed = 0;
    for (int i = 0; i < count; i++) {
      if (i % LookAhead.GROUP == 0) {
        lookAhead.toSchedule(ids, deadlinesMillis, i, Math.min(i + LookAhead.GROUP, count));
      }
      if (schedule(ids[i], deadlinesMillis[i])) {
        armed++;
      }
    }
    return armed;
  }

  /**
   * Disarms a timer. O(1).
   *
   * @param id the timer's id
   * @return true if the timer was armed
   */
  public boolean cancel(long id) {
    noteChange(id);
    int location = index.find(id, timers);
    if (location == TimerLists.NONE) {
      return false;
    }
    index.removeFound();
    removeFromList(location);
    return true;
  }

  /**
   * Disarms timers. O(count), and much faster than one by one when the wheel is large.
   *
   * @param ids the ids
   * @param count how many to read, from the first
   * @return how many of them were armed
   * @throws IndexOutOfBoundsException if the array is shorter than count; nothing has changed then
   */
  public int cancel(long[] ids, int count) {
    Objects.checkFromIndexSize(0, count, ids.length);
    int disarmed = 0;
    for (int i = 0; i < count; i++) {
      if (i % LookAhead.GROUP == 0) {
        lookAhead.toCancel(ids, i, Math.min(i + LookAhead.GROUP, count));
      }
      if (cancel(ids[i])) {
        disarmed++;
      }
    }
    return disarmed;
  }

  /**
   * Tells whether a timer is armed. O(1).
   *
   * @param id the timer's id
   * @return true if it is armed
   */
  public boolean contains(long id) {
    return index.find(id, timers) != TimerLists.NONE;
  }

  /**
   * Counts the armed timers. O(1).
   *
   * @return the number of armed timers
   */
  public int size() {
    return timers.size();
  }

  /**
   * Hands out due timers, the earlier tick first, and disarms those that the handler takes. So what
   * was due while nobody called comes at once and in its order, and so does what was due when it
   * was armed. The order within a tick is not defined, nor that of a timer armed after others with
   * later ticks were handed out.
   *
   * <p>The work of a call is bounded: by {@code limit} timers handed out or moved between levels.
   * So the result may be 0 although there is more to do. There is more to do as long as {@link
   * #nextDeadlineMillis()} is not after {@code nowMillis}.
   *
   * <p>If the handler throws or refuses a timer, this timer and all behind it stay armed. The
   * handler may schedule and cancel; a timer that it arms and that is due already is handed out in
   * the same call, within the limit. It must not call {@code advance}.
   *
   * <p>The time may go back. What was handed out stays so, and only what is due by the time given
   * is handed out. The first call after the time went back costs O(timers armed since the call
   * before, already due then), beyond the limit.
   *
   * @param nowMillis the time now in milliseconds
   * @param handler receives the timers
   * @param limit the most timers to touch, at least 1
   * @return how many timers the handler took
   * @throws IllegalArgumentException if the limit is not positive
   * @throws IllegalStateException if called by the handler
   */
  public int advance(long nowMillis, TimerHandler handler, int limit) {
    Objects.requireNonNull(handler, "handler");
    if (limit < 1) {
      throw new IllegalArgumentException("limit must be at least 1: " + limit);
    }
    if (advancing) {
      throw new IllegalStateException("advance() called by its own handler");
    }
    long target = tickAtOrBefore(nowMillis);
    if (isBefore(target, behind.position())) {
      if (behindCount > 0 && anyMissed() && !isBefore(target, earliestMissed)) {
        goBack(target);
      }
    }
    advancing = true;
    try {
      return handOut(target, handler, limit);
    } finally {
      advancing = false;
      givenUntouched = false;
    }
  }

  /**
   * The earliest time at which {@link #advance} may have work: to hand out a timer, or to move some
   * between levels. Never later than the time at which the first timer becomes due, and exactly
   * that time if the timers are few. O(1).
   *
   * @return the time in milliseconds, {@code Long.MAX_VALUE} if the wheel is empty
   */
  public long nextDeadlineMillis() {
    if (timers.size() == 0) {
      return Long.MAX_VALUE;
    }
    if (behindCount == 0) {
      return millisOf(next(ahead));
    }
    long next = next(behind);
    return millisOf(anyMissed() && isBefore(earliestMissed, next) ? earliestMissed : next);
  }

  /**
   * Estimates how many timers are due at or before each of some times, without looking at each
   * timer. The count is exact but for one slot of each level that a time falls into, of which it
   * takes a share, as if its timers were spread evenly. O(occupied slots).
   *
   * @param timesMillis the times in milliseconds
   * @return the number of timers for each of the times
   */
  public long[] forecast(long... timesMillis) {
    long[] ticks = new long[timesMillis.length];
    for (int i = 0; i < ticks.length; i++) {
      ticks[i] = tickAtOrBefore(timesMillis[i]);
    }
    double[] due = new double[ticks.length];
    for (int slot = timers.firstOccupied(0, 2 * Levels.SLOTS);
        slot >= 0;
        slot = timers.firstOccupied(slot + 1, 2 * Levels.SLOTS)) {
      addDue(slot < Levels.SLOTS ? ahead : behind, slot, ticks, due);
    }
    long[] rounded = new long[due.length];
    for (int i = 0; i < due.length; i++) {
      rounded[i] = Math.round(due[i]);
    }
    return rounded;
  }

  /**
   * Passes armed timers to the handler, each once, in no particular order, until it refuses one.
   * O(timers).
   *
   * @param handler receives the timers; must not change the wheel
   */
  public void forEach(TimerHandler handler) {
    for (int slot = timers.firstOccupied(0, 2 * Levels.SLOTS);
        slot >= 0;
        slot = timers.firstOccupied(slot + 1, 2 * Levels.SLOTS)) {
      for (int location = timers.last(slot);
          location != TimerLists.NONE;
          location = timers.before(location)) {
        if (!handler.take(timers.id(location), timers.deadlineMillis(location))) {
          return;
        }
      }
    }
  }

  /** The deadline of a timer in milliseconds, or what to say if it is not armed. O(1). */
  long deadlineMillis(long id, long notArmed) {
    int location = index.find(id, timers);
    return location == TimerLists.NONE ? notArmed : timers.deadlineMillis(location);
  }

  /**
   * A page of the armed timers, called those of a shard. See {@link ShardedTimers#armed}; the
   * cursor is a place in {@link TimerIndex#walk}.
   */
  ArmedTimers armed(int shard, int cursor, int limit) {
    long[] walked = index.walk(cursor);
    int last = index.endOfSegment(cursor);
    int count = walked.length;
    if (count > limit) {
      Arrays.sort(walked);
      last = place(walked[limit - 1]);
      count = limit;
      // No cursor lies between timers of the same place.
      while (count < walked.length && place(walked[count]) == last) {
        count++;
      }
    }
    long[] ids = new long[count];
    long[] deadlinesMillis = new long[count];
    for (int i = 0; i < count; i++) {
      int location = (int) walked[i];
      ids[i] = timers.id(location);
      deadlinesMillis[i] = timers.deadlineMillis(location);
    }
    // Behind the last place of all comes 0.
    return new ArmedTimers(shard, ids, deadlinesMillis, (last + 1) & Integer.MAX_VALUE);
  }

  private static int place(long walked) {
    return (int) (walked >>> 32);
  }

  /** The memory that the timers take, in bytes. */
  long bytes() {
    return index.bytes() + timers.bytes();
  }

  private int handOut(long target, TimerHandler handler, int limit) {
    budget = limit;
    taken = 0;
    boolean refused = false;
    while (budget > 0 && !refused) {
      Levels levels = behindCount > 0 ? behind : ahead;
      long until = levels == ahead ? target : earlier(target, ahead.position());
      int slot = levels.first(timers);
      if (slot < 0 || isBefore(until, levels.startOf(slot))) {
        moveTo(levels, until);
        break;
      }
      moveTo(levels, levels.startOf(slot));
      if (levels.levelOf(slot) > 0) {
        moveDown(levels, slot, budget);
      } else {
        refused = !give(levels, slot, handler);
      }
    }
    return taken;
  }

  /** Gives away the timers of a slot of level 0; false if the handler refuses one. */
  private boolean give(Levels levels, int slot, TimerHandler handler) {
    for (int group = 0; budget > 0; group++) {
      int location = timers.last(slot);
      // What the handler has armed behind the position comes first.
      if (location == TimerLists.NONE || (levels == ahead && behindCount > 0)) {
        return true;
      }
      if (group % LookAhead.GROUP == 0) {
        lookAhead.toRemoveLast(slot, budget);
      }
      budget--;
      if (!give(location, handler)) {
        return false;
      }
      taken++;
    }
    return true;
  }

  private boolean give(int location, TimerHandler handler) {
    long id = timers.id(location);
    givenId = id;
    givenUntouched = true;
    int changesBefore = changes;
    if (!handler.take(id, timers.deadlineMillis(location))) {
      return false;
    }
    if (givenUntouched) {
      remove(id, changes == changesBefore ? location : index.find(id, timers));
    }
    return true;
  }

  /** Moves timers of a slot that lies in a level's present or next unit to the levels below. */
  private void moveDown(Levels levels, int slot, int limit) {
    int count = Math.min(Math.min(limit, budget), timers.count(slot));
    for (int i = 0; i < count; i++) {
      if (i % LookAhead.GROUP == 0) {
        lookAhead.toRemoveLast(slot, count - i);
      }
      int location = timers.last(slot);
      long id = timers.id(location);
      long deadlineMillis = timers.deadlineMillis(location);
      int lower = levels.slotOf(tickAtOrAfter(deadlineMillis));
      index.moved(id, location, timers.add(lower, id, deadlineMillis));
      timers.remove(location);
    }
    budget -= count;
  }

  /**
   * Moves the position, and on the way a fair share of each level's next unit down to the level, so
   * that all of it is there when the unit begins.
   */
  private void moveTo(Levels levels, long tick) {
    long before = levels.position();
    if (!isBefore(before, tick)) {
      return;
    }
    levels.moveTo(tick);
    if (levels == behind) {
      earliestMissed = NEVER;
    }
    for (int level = 0; level < Levels.LEVELS - 1; level++) {
      int slot = levels.nextUnitOf(level);
      int count = timers.count(slot);
      if (count > 0) {
        double start = Levels.sameUnit(level, before, tick) ? levels.passed(level, before) : 0;
        double share = (levels.passed(level, tick) - start) / (1 - start);
        moveDown(levels, slot, Math.max(MOVED_TOGETHER, (int) Math.ceil(count * share)));
      }
    }
  }

  /** Hangs anew what lies behind the position of the other levels, as seen from an earlier time. */
  private void goBack(long target) {
    long[] ids = new long[behindCount];
    int count = 0;
    for (int slot = timers.firstOccupied(Levels.SLOTS, 2 * Levels.SLOTS);
        slot >= 0;
        slot = timers.firstOccupied(slot + 1, 2 * Levels.SLOTS)) {
      for (int location = timers.last(slot);
          location != TimerLists.NONE;
          location = timers.before(location)) {
        ids[count++] = timers.id(location);
      }
    }
    behind.moveTo(target);
    earliestMissed = NEVER;
    for (long id : ids) {
      int location = index.find(id, timers);
      move(id, location, timers.deadlineMillis(location));
    }
  }

  private void move(long id, int location, long deadlineMillis) {
    int slot = slotToArm(tickAtOrAfter(deadlineMillis));
    if (timers.slot(location) == slot) {
      timers.setDeadlineMillis(location, deadlineMillis);
      return;
    }
    // In this order the index always finds what the lists tell it about.
    index.moved(id, location, add(slot, id, deadlineMillis));
    removeFromList(location);
  }

  private void remove(long id, int location) {
    index.remove(id, location);
    removeFromList(location);
  }

  private int add(int slot, long id, long deadlineMillis) {
    if (slot >= Levels.SLOTS) {
      behindCount++;
    }
    return timers.add(slot, id, deadlineMillis);
  }

  private void removeFromList(int location) {
    if (timers.slot(location) >= Levels.SLOTS) {
      behindCount--;
    }
    timers.remove(location);
  }

  /** The slot where a timer belongs as seen from the positions. */
  private int slotOf(long tick) {
    if (!isBefore(tick, ahead.position())) {
      return ahead.slotOf(tick);
    }
    return behind.slotOf(isBefore(tick, behind.position()) ? behind.position() : tick);
  }

  /** The slot for a timer that is armed now. */
  private int slotToArm(long tick) {
    if (isBefore(tick, ahead.position())) {
      if (behindCount == 0) {
        behind.moveTo(isBefore(tick, REACH_BACK) ? 0 : tick - REACH_BACK);
        earliestMissed = NEVER;
      }
      if (isBefore(tick, behind.position())) {
        earliestMissed = anyMissed() ? earlier(tick, earliestMissed) : tick;
      }
    }
    return slotOf(tick);
  }

  /** Whether a timer may hang at the position of {@link #behind} though its tick lies before. */
  private boolean anyMissed() {
    return earliestMissed != NEVER && !timers.isEmpty(behind.slotOf(behind.position()));
  }

  private void noteChange(long id) {
    changes++;
    if (id == givenId) {
      givenUntouched = false;
    }
  }

  /** Makes changes of these timers, one by one from now, several times faster. */
  void lookAhead(long[] ids, int count) {
    for (int from = 0; from < count; from += LookAhead.GROUP) {
      lookAhead.toCancel(ids, from, Math.min(from + LookAhead.GROUP, count));
    }
  }

  private int slotOfDeadline(long deadlineMillis) {
    return slotOf(tickAtOrAfter(deadlineMillis));
  }

  /** A lower bound of the earliest tick of the timers in some levels. */
  private long next(Levels levels) {
    long next = NEVER;
    for (int level = 0; level < Levels.LEVELS; level++) {
      int slot = levels.firstOf(level, timers);
      if (slot >= 0) {
        next = earlier(next, firstTick(levels, slot));
      }
    }
    return next;
  }

  /** The earliest tick of a slot if its timers are few, else where it starts. */
  private long firstTick(Levels levels, int slot) {
    if (levels.levelOf(slot) == 0 || timers.count(slot) > SHORT_LIST) {
      return levels.startOf(slot);
    }
    long first = NEVER;
    for (int location = timers.last(slot);
        location != TimerLists.NONE;
        location = timers.before(location)) {
      first = earlier(first, tickAtOrAfter(timers.deadlineMillis(location)));
    }
    return first;
  }

  /** Adds the timers of a slot that are due by each of some ticks. */
  private void addDue(Levels levels, int slot, long[] ticks, double[] due) {
    if (timers.count(slot) <= SHORT_LIST) {
      addDueExactly(slot, ticks, due);
      return;
    }
    long start = levels.startOf(slot);
    double length = (double) (levels.endOf(slot) - start) + 1;
    for (int i = 0; i < ticks.length; i++) {
      if (!isBefore(ticks[i], start)) {
        double passed = (double) (earlier(ticks[i], levels.endOf(slot)) - start) + 1;
        due[i] += timers.count(slot) * (passed / length);
      }
    }
  }

  private void addDueExactly(int slot, long[] ticks, double[] due) {
    for (int location = timers.last(slot);
        location != TimerLists.NONE;
        location = timers.before(location)) {
      long tick = tickAtOrAfter(timers.deadlineMillis(location));
      for (int i = 0; i < ticks.length; i++) {
        due[i] += isBefore(ticks[i], tick) ? 0 : 1;
      }
    }
  }

  private static boolean isBefore(long tick, long otherTick) {
    return Long.compareUnsigned(tick, otherTick) < 0;
  }

  private static long earlier(long tick, long otherTick) {
    return isBefore(tick, otherTick) ? tick : otherTick;
  }

  long tickAtOrAfter(long millis) {
    long tick = Math.floorDiv(millis, tickMillis);
    return (tick * tickMillis == millis ? tick : tick + 1) ^ Long.MIN_VALUE;
  }

  private long tickAtOrBefore(long millis) {
    // At the end of time everything is due.
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
