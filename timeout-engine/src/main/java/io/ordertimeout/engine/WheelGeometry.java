package io.ordertimeout.engine;

/**
 * The mapping between ticks and slots of a hierarchical wheel, relative to the wheel's current
 * position. Holds no timers.
 *
 * <p>Ticks are unsigned 64-bit numbers. A slot of level 0 covers one tick. A slot of each higher
 * level covers 64 slots of level 0, 16,384 slots of level 1, or 2,048 slots of the levels above;
 * that is one revolution of the level below. Each level is a ring that holds two revolutions: the
 * current one and the next. A timer is kept in the lowest level whose next revolution still reaches
 * its tick. The slot of the level above that covers the next revolution can therefore be cascaded
 * gradually, while the current revolution passes, instead of all at once when its turn comes. The
 * first two levels reach at least 17 minutes ahead with a tick of 1 ms, and almost 3 hours with 10
 * ms.
 *
 * <p>Based on scheme 7 of Varghese and Lauck, "Hashed and Hierarchical Timing Wheels: Data
 * Structures for the Efficient Implementation of a Timer Facility", SOSP 1987. The second
 * revolution is an addition.
 *
 * <p>Confined to one thread. All operations are O(levels).
 */
final class WheelGeometry {

  static final int LEVELS = 6;

  /** The number of slots in all levels together. */
  static final int SLOTS = 2 * (1 << 6) + 2 * (1 << 14) + 4 * 2 * (1 << 11);

  /**
   * The number of low tick bits that each level ignores. The last entry marks the end of level 5.
   */
  private static final int[] SHIFT = {0, 6, 20, 31, 42, 53, 64};

  private final int[] firstSlot = new int[LEVELS + 1];

  private long position;

  /** Creates a geometry whose slot numbers start at {@code firstSlot}. */
  WheelGeometry(int firstSlot, long position) {
    this.position = position;
    this.firstSlot[0] = firstSlot;
    for (int level = 0; level < LEVELS; level++) {
      this.firstSlot[level + 1] = this.firstSlot[level] + slotCount(level);
    }
  }

  /** Returns the current tick of the wheel. */
  long position() {
    return position;
  }

  void setPosition(long tick) {
    position = tick;
  }

  /** Returns the slot of a tick that is not before the position. */
  int slotOf(long tick) {
    int level = 0;
    while (revolution(level, tick) - revolution(level, position) > 1) {
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

  /** Returns the first tick that a slot covers, relative to the position. */
  long firstTick(int slot) {
    int level = levelOf(slot);
    long current = position >>> SHIFT[level];
    long ahead = (slot - firstSlot[level] - current) & (slotCount(level) - 1);
    return (current + ahead) << SHIFT[level];
  }

  /** Returns the last tick that a slot covers, relative to the position. */
  long lastTick(int slot) {
    return firstTick(slot) + (1L << SHIFT[levelOf(slot)]) - 1;
  }

  /** Returns the first occupied slot of a level after the position, or -1. */
  int firstOccupied(int level, TimerLists timers) {
    int current = slotAt(level, position >>> SHIFT[level]);
    int slot = timers.firstOccupied(current, firstSlot[level + 1]);
    return slot >= 0 ? slot : timers.firstOccupied(firstSlot[level], current);
  }

  /**
   * Returns the occupied slot that starts first, or -1. If several start at the same tick, returns
   * the one of the highest level, because it has to be cascaded into the others first.
   */
  int firstOccupied(TimerLists timers) {
    int first = -1;
    long firstStart = -1;
    for (int level = 0; level < LEVELS; level++) {
      int slot = firstOccupied(level, timers);
      if (slot >= 0) {
        long start = firstTick(slot);
        if (first < 0 || Long.compareUnsigned(start, firstStart) <= 0) {
          first = slot;
          firstStart = start;
        }
      }
    }
    return first;
  }

  /**
   * Returns the slot of the level above that covers the next revolution of this level. This level
   * must not be the top one.
   */
  int nextRevolutionSlot(int level) {
    return slotAt(level + 1, revolution(level, position) + 1);
  }

  /** Returns the fraction, from 0 to 1, of a level's revolution that has elapsed at a tick. */
  double elapsed(int level, long tick) {
    long mask = (1L << SHIFT[level + 1]) - 1;
    return (double) (tick & mask) / ((double) mask + 1);
  }

  /** Returns whether a level, other than the top one, is in the same revolution at both ticks. */
  static boolean sameRevolution(int level, long tick, long otherTick) {
    return revolution(level, tick) == revolution(level, otherTick);
  }

  private int slotAt(int level, long number) {
    return firstSlot[level] + (int) (number & (slotCount(level) - 1));
  }

  private static long revolution(int level, long tick) {
    return level == LEVELS - 1 ? 0 : tick >>> SHIFT[level + 1];
  }

  private static int slotCount(int level) {
    return 2 << (SHIFT[level + 1] - SHIFT[level]);
  }
}
