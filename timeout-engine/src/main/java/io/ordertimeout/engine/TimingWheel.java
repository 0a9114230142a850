package io.ordertimeout.engine;

import java.util.Objects;

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
 * moves at most ten times before it is due, so handing out n timers is O(n). Empty slots are never
 * walked, however long they are. Growing and shrinking copy everything, amortized O(1). Memory is
 * about 32 to 64 bytes a timer at its peak and is given back when three quarters are unused; there
 * is no object per timer. A wheel holds up to 2<sup>29</sup> timers.
 */
public final class TimingWheel {

  /*
   * Varghese and Lauck, "Hashed and Hierarchical Timing Wheels: Data Structures for the Efficient
   * Implementation of a Timer Facility", SOSP 1987, scheme 7, with absolute positions:
   *
   * Ticks are 64-bit numbers, read as eleven digits of 64 values; flipping the sign bit makes their
   * unsigned order the order of time. The wheel stands at a tick, its position. A timer hangs in the
   * level of the highest digit in which its tick differs from the position, in the slot of its own digit
   * there. So all of a level's slots lie in the future of the position, in order, and before those of
   * the next level: the earliest slot is the first bit of the first level that has one.
   *
   * When the position reaches a slot above level 0, its timers move to the levels below. That can take
   * several calls; meanwhile the position stays at the slot, newer timers may already hang below it, and
   * the slot has to come first.
   *
   * A timer armed behind the position hangs in the slot of the position itself, the next to be handed
   * out.
   */

  static final int MIN_CAPACITY = 64;
  static final int MAX_CAPACITY = 1 << 29;

  private static final int TOP_LEVEL = TimerNodes.LEVELS - 1;

  final long tickMillis;
  final long lastTick;

  long position;

  /** A lower bound of the ticks that lie behind the position; Long.MAX_VALUE if there are none. */
  long earliestBehind = Long.MAX_VALUE;

  /** The slot above level 0 whose timers are on their way down, or NONE. */
  int cascading = TimerNodes.NONE;

  TimerNodes nodes = new TimerNodes(MIN_CAPACITY);
  NodeIndex index = new NodeIndex(MIN_CAPACITY);

  private boolean advancing;

  /** Whether the handler has left the timer alone that it was given. */
  private boolean givenUntouched;

  private long givenId;

  /**
   * Makes an empty wheel.
   *
   * @param tickMillis the resolution in milliseconds, at least 1
   * @param nowMillis the time now in milliseconds
   * @throws IllegalArgumentException if the tick is not positive
   */
  public TimingWheel(long tickMillis, long nowMillis) {
    if (tickMillis < 1) {
      throw new IllegalArgumentException("tickMillis must be at least 1: " + tickMillis);
    }
    this.tickMillis = tickMillis;
    this.lastTick = tickAtOrAfter(Long.MAX_VALUE);
    this.position = tickAtOrBefore(nowMillis);
  }

  /**
   * Arms a timer, or moves it if it is armed. O(1).
   *
   * @param id the timer's id
   * @param deadlineMillis the deadline in milliseconds; one in the past is due at once
   * @return true if the timer was not armed before
   * @throws IllegalStateException if the wheel is full
   */
  public boolean schedule(long id, long deadlineMillis) {
    noteTouched(id);
    int node = index.find(id, nodes);
    if (node >= 0) {
      nodes.unlink(node);
      nodes.setDeadlineMillis(node, deadlineMillis);
      hang(node);
      return false;
    }
    if (nodes.size() == nodes.capacity()) {
      grow();
    }
    node = nodes.allocate(id, deadlineMillis);
    index.add(node, nodes);
    hang(node);
    return true;
  }

  /**
   * Disarms a timer. O(1).
   *
   * @param id the timer's id
   * @return true if the timer was armed
   */
  public boolean cancel(long id) {
    noteTouched(id);
    int node = index.find(id, nodes);
    if (node < 0) {
      return false;
    }
    remove(node);
    return true;
  }

  /**
   * Tells whether a timer is armed. O(1).
   *
   * @param id the timer's id
   * @return true if it is armed
   */
  public boolean contains(long id) {
    return index.find(id, nodes) >= 0;
  }

  /**
   * Counts the armed timers. O(1).
   *
   * @return the number of armed timers
   */
  public int size() {
    return nodes.size();
  }

  /**
   * Hands out due timers, the earlier tick first, and disarms those that the handler takes. Timers
   * that were armed when their tick had passed count as due at the tick the wheel had reached by
   * then. The order within a tick is not defined.
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
   * is handed out, so usually nothing. If a timer was armed meanwhile with a deadline that the
   * wheel had already passed, going back once costs O(timers of the levels it goes back through),
   * beyond the limit.
   *
   * @param nowMillis the time now in milliseconds
   * @param handler receives the timers
   * @param limit the most timers to touch, at least 1
   * @return how many timers the handler took
   * @throws IllegalArgumentException if the limit is not positive
   * @throws IllegalStateException if called by the handler
   */
  public int advance(long nowMillis, DueHandler handler, int limit) {
    Objects.requireNonNull(handler, "handler");
    if (limit < 1) {
      throw new IllegalArgumentException("limit must be at least 1: " + limit);
    }
    if (advancing) {
      throw new IllegalStateException("advance() called by its own handler");
    }
    long target = tickAtOrBefore(nowMillis);
    if (target < position) {
      if (nothingBehind() || earliestBehind > target) {
        return 0;
      }
      goBack(target);
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
   * between levels. Never later than the time at which the first timer becomes due. O(1).
   *
   * @return the time in milliseconds, {@code Long.MAX_VALUE} if the wheel is empty
   */
  public long nextDeadlineMillis() {
    int slot = earliestSlot();
    if (slot < 0) {
      return Long.MAX_VALUE;
    }
    long tick = startOf(slot);
    return millisOf(nothingBehind() ? tick : Math.min(tick, earliestBehind));
  }

  /**
   * Passes every armed timer to the consumer, each once, in no particular order. O(timers).
   *
   * @param consumer receives the timers; must not change the wheel
   */
  public void forEach(TimerConsumer consumer) {
    for (int level = 0; level < TimerNodes.LEVELS; level++) {
      for (long bits = nodes.occupied(level); bits != 0; bits &= bits - 1) {
        int slot = slot(level, Long.numberOfTrailingZeros(bits));
        for (int node = nodes.first(slot); node >= 0; node = nodes.next(node)) {
          consumer.accept(nodes.id(node), nodes.deadlineMillis(node));
        }
      }
    }
  }

  private int handOut(long target, DueHandler handler, int limit) {
    int taken = 0;
    for (int work = 0; work < limit; work++) {
      int slot = earliestSlot();
      long start = slot < 0 ? Long.MAX_VALUE : startOf(slot);
      if (slot < 0 || start > target) {
        moveTo(target);
        break;
      }
      moveTo(start);
      if (slot >= TimerNodes.SLOTS_PER_LEVEL) {
        cascading = slot;
        int node = nodes.first(slot);
        nodes.unlink(node);
        hang(node);
      } else if (give(nodes.first(slot), handler)) {
        taken++;
      } else {
        break;
      }
    }
    return taken;
  }

  private boolean give(int node, DueHandler handler) {
    long id = nodes.id(node);
    givenId = id;
    givenUntouched = true;
    if (!handler.onDue(id, nodes.deadlineMillis(node))) {
      return false;
    }
    if (givenUntouched) {
      // Looked up again: the handler may have made the nodes move.
      remove(index.find(id, nodes));
    }
    return true;
  }

  private void noteTouched(long id) {
    if (id == givenId) {
      givenUntouched = false;
    }
  }

  /** Hangs a detached node where it belongs as seen from the position. */
  private void hang(int node) {
    long tick = tickAtOrAfter(nodes.deadlineMillis(node));
    if (tick < position) {
      earliestBehind = nothingBehind() ? tick : Math.min(earliestBehind, tick);
      tick = position;
    }
    int level = levelOf(tick, position);
    nodes.append(slot(level, digit(tick, level)), node);
  }

  /** Whether no timer lies behind the position. */
  private boolean nothingBehind() {
    return earliestBehind == Long.MAX_VALUE || nodes.isEmpty(digit(position, 0));
  }

  private int earliestSlot() {
    if (cascading >= 0) {
      if (!nodes.isEmpty(cascading)) {
        return cascading;
      }
      cascading = TimerNodes.NONE;
    }
    for (int level = 0; level < TimerNodes.LEVELS; level++) {
      long bits = nodes.occupied(level);
      if (bits != 0) {
        return slot(level, Long.numberOfTrailingZeros(bits));
      }
    }
    return TimerNodes.NONE;
  }

  /** The first tick of a slot. */
  private long startOf(int slot) {
    int level = slot >>> TimerNodes.SLOT_BITS;
    long digit = slot & (TimerNodes.SLOTS_PER_LEVEL - 1);
    int shift = level * TimerNodes.SLOT_BITS;
    int above = shift + TimerNodes.SLOT_BITS;
    long higher = level == TOP_LEVEL ? 0 : (position ^ Long.MIN_VALUE) >>> above << above;
    return (higher | digit << shift) ^ Long.MIN_VALUE;
  }

  private void moveTo(long tick) {
    if (tick != position) {
      // Nothing is left at or behind the old position, or it would have come first.
      position = tick;
      earliestBehind = Long.MAX_VALUE;
    }
  }

  /**
   * Moves the position back. Seen from both positions the levels above the highest digit in which
   * they differ are the same, and so is the level of that digit itself; everything below is hung
   * anew.
   */
  private void goBack(long tick) {
    int highest = levelOf(tick, position);
    int[] detached = new int[nodes.size()];
    int count = 0;
    for (int level = 0; level < Math.max(highest, 1); level++) {
      for (long bits = nodes.occupied(level); bits != 0; bits &= bits - 1) {
        int slot = slot(level, Long.numberOfTrailingZeros(bits));
        while (!nodes.isEmpty(slot)) {
          int node = nodes.first(slot);
          nodes.unlink(node);
          detached[count++] = node;
        }
      }
    }
    cascading = TimerNodes.NONE;
    moveTo(tick);
    for (int i = 0; i < count; i++) {
      hang(detached[i]);
    }
  }

  private void remove(int node) {
    nodes.unlink(node);
    index.remove(node, nodes);
    nodes.free(node);
    if (nodes.capacity() > MIN_CAPACITY && nodes.size() < nodes.capacity() / 4) {
      int smaller = nodes.capacity() / 2;
      TimerNodes compacted = nodes.compacted(smaller);
      index = NodeIndex.of(compacted, smaller);
      nodes = compacted;
    }
  }

  private void grow() {
    if (nodes.capacity() == MAX_CAPACITY) {
      throw new IllegalStateException("the wheel is full: " + nodes.size());
    }
    int larger = nodes.capacity() * 2;
    NodeIndex largerIndex = NodeIndex.of(nodes, larger);
    nodes.grow(larger);
    index = largerIndex;
  }

  private static int slot(int level, int digit) {
    return level << TimerNodes.SLOT_BITS | digit;
  }

  private static int digit(long tick, int level) {
    long digits = (tick ^ Long.MIN_VALUE) >>> (level * TimerNodes.SLOT_BITS);
    return (int) digits & (TimerNodes.SLOTS_PER_LEVEL - 1);
  }

  /** The highest digit in which two ticks differ. */
  private static int levelOf(long tick, long otherTick) {
    // The lowest bit makes equal ticks differ in digit 0.
    return (63 - Long.numberOfLeadingZeros((tick ^ otherTick) | 1)) / TimerNodes.SLOT_BITS;
  }

  private long tickAtOrAfter(long millis) {
    long tick = Math.floorDiv(millis, tickMillis);
    return tick * tickMillis == millis ? tick : tick + 1;
  }

  private long tickAtOrBefore(long millis) {
    // At the end of time everything is due.
    return millis == Long.MAX_VALUE ? lastTick : Math.floorDiv(millis, tickMillis);
  }

  private long millisOf(long tick) {
    if (tick == lastTick) {
      return Long.MAX_VALUE;
    }
    return tick < 0 && tick < Long.MIN_VALUE / tickMillis ? Long.MIN_VALUE : tick * tickMillis;
  }
}
