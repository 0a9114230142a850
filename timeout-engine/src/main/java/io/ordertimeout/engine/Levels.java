package io.ordertimeout.engine;

/**
 * The geometry of a wheel: which slot a tick belongs to, as seen from the tick where the wheel
 * stands, and which ticks a slot stands for. Holds no timers.
 *
 * <p>Ticks are unsigned 64-bit numbers here. A slot of level 0 is one tick, and a slot of each
 * further level as long as 64 slots of level 0, 16,384 of level 1, or 2,048 of the levels above.
 * That length is the lower level's unit. A level is a ring of two units: the present one and the
 * next. So a timer hangs in the lowest level whose next unit it does not lie beyond, and the slot
 * of the level above that stands for the next unit can be emptied into the level little by little,
 * while the present unit passes, instead of all at once when its turn comes. With a tick of 1 ms
 * the first two levels reach 17 minutes ahead at least, with 10 ms almost 3 hours.
 *
 * <p>Varghese and Lauck, "Hashed and Hierarchical Timing Wheels: Data Structures for the Efficient
 * Implementation of a Timer Facility", SOSP 1987, scheme 7; the second unit is new here.
 *
 * <p>Confined to one thread. All operations are O(levels).
 */
final class Levels {

  static final int LEVELS = 6;

  /** The slots of all levels together. */
  static final int SLOTS = 2 * (1 << 6) + 2 * (1 << 14) + 4 * 2 * (1 << 11);

  /** The binary digits of a tick that lie below a level; the last is where level 5 ends. */
  private static final int[] SHIFT = {0, 6, 20, 31, 42, 53, 64};

  private final int[] firstSlot = new int[LEVELS + 1];

  private long position;

  /** Numbers the slots from {@code firstSlot} on. */
  Levels(int firstSlot, long position) {
    this.position = position;
    this.firstSlot[0] = firstSlot;
    for (int level = 0; level < LEVELS; level++) {
      this.firstSlot[level + 1] = this.firstSlot[level] + slots(level);
    }
  }

  /** The tick where the wheel stands. */
  long position() {
    return position;
  }

  void moveTo(long tick) {
    position = tick;
  }

  /** The slot of a tick that is not before the position. */
  int slotOf(long tick) {
    int level = 0;
    while (unit(level, tick) - unit(level, position) > 1) {
      level++;
    }
    return slotAt(level, tick >>> SHIFT[level]);
  }

  int levelOf(int slot) {
    int level = 0;
    while (slot >= firstSlot[level + 1]) {
      level++;
    }
    return level;
  }

  /** The first tick of a slot, as seen from the position. */
  long startOf(int slot) {
    int level = levelOf(slot);
    long present = position >>> SHIFT[level];
    long ahead = (slot - firstSlot[level] - present) & (slots(level) - 1);
    return (present + ahead) << SHIFT[level];
  }

  /** The last tick of a slot, as seen from the position. */
  long endOf(int slot) {
    return startOf(slot) + (1L << SHIFT[levelOf(slot)]) - 1;
  }

  /** The occupied slot of a level that comes first as seen from the position, or -1. */
  int firstOf(int level, TimerLists timers) {
    int present = slotAt(level, position >>> SHIFT[level]);
    int slot = timers.firstOccupied(present, firstSlot[level + 1]);
    return slot >= 0 ? slot : timers.firstOccupied(firstSlot[level], present);
  }

  /**
   * The occupied slot that starts first, or -1. Of those that start together it is the highest,
   * which has to be emptied into the others first.
   */
  int first(TimerLists timers) {
    int first = -1;
    long firstStart = -1;
    for (int level = 0; level < LEVELS; level++) {
      int slot = firstOf(level, timers);
      if (slot >= 0) {
        long start = startOf(slot);
        if (first < 0 || Long.compareUnsigned(start, firstStart) <= 0) {
          first = slot;
          firstStart = start;
        }
      }
    }
    return first;
  }

  /**
   * The slot of the level above that stands for the next unit of this level, which is not the top.
   */
  int nextUnitOf(int level) {
    return slotAt(level + 1, unit(level, position) + 1);
  }

  /** Where in its present unit a level stands: the part that lies behind a tick of it, 0 to 1. */
  double passed(int level, long tick) {
    long mask = (1L << SHIFT[level + 1]) - 1;
    return (double) (tick & mask) / ((double) mask + 1);
  }

  /** Whether a level, not the top, is in the same unit at both ticks. */
  static boolean sameUnit(int level, long tick, long otherTick) {
    return unit(level, tick) == unit(level, otherTick);
  }

  private int slotAt(int level, long number) {
    return firstSlot[level] + (int) (number & (slots(level) - 1));
  }

  private static long unit(int level, long tick) {
    return level == LEVELS - 1 ? 0 : tick >>> SHIFT[level + 1];
  }

  private static int slots(int level) {
    return 2 << (SHIFT[level + 1] - SHIFT[level]);
  }
}
