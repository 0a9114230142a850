package io.ordertimeout.engine;

/**
 * The armed timers, in one unordered list for each slot of a wheel.
 *
 * <p>A timer is known by its location, a positive number. A location changes when another timer is
 * removed, and whoever has to know is told. Slots are numbers from 0 on, up to a fixed number.
 *
 * <p>A list is a chain of chunks of fifteen timers each, all full but the last. What is added goes
 * to the end, and the last one takes the place of the one that is removed, so that a list stays
 * dense however its timers come and go, and is read in long strides. A chunk is 32 longs: two that
 * describe it, then id and deadline of each timer, 17.1 bytes a timer in a full chunk.
 *
 * <p>Confined to one thread. Adding and removing are O(1).
 */
final class TimerLists {

  /** Learns of timers that have changed their location. */
  interface Moves {
    void moved(long id, int from, int to);

    /**
     * Reads what telling of a move of this timer will read, so that several moves wait only once.
     */
    void prepareToMove(long id);
  }

  /** No location, and no chunk. */
  static final int NONE = 0;

  private static final int CHUNK_BITS = 4;
  private static final int PLACE_MASK = (1 << CHUNK_BITS) - 1;
  private static final int LAST_PLACE = PLACE_MASK;

  /** Address of a chunk's second long relative to its first, which is at 32 times its number. */
  private static final int OWNER = 1;

  private static final int FREE = -1;

  /**
   * Free chunks beyond three quarters of all and this many are a reason to move others together.
   */
  private static final int SPARE_CHUNKS = 16;

  private static final int SLOT_PAGE_BITS = 12;
  private static final int SLOT_PAGE_MASK = (1 << SLOT_PAGE_BITS) - 1;

  private final Moves moves;

  /*
   * A location is 16 times its chunk plus 1 to 15. So the id of a timer is at the address of twice
   * its location, the deadline behind it, and the two longs in front of a chunk's first timer are:
   * the chunk before and the chunk behind in the chain, then the slot (FREE in the chain of free
   * chunks) and how many chunks of the chain come before.
   */
  private final Blocks blocks = new Blocks(CHUNK_BITS + 1);

  /** The last location of each slot's list, NONE if it is empty; pages made when first needed. */
  private final int[][] last;

  private final SlotSet occupied;

  private int firstFree = NONE;
  private int freeChunks;
  private int chunks;
  private int size;

  TimerLists(int slots, Moves moves) {
    this.moves = moves;
    this.last = new int[(slots + SLOT_PAGE_MASK) >>> SLOT_PAGE_BITS][];
    this.occupied = new SlotSet(slots);
    // Chunk 0 is never used, because 0 is NONE.
    blocks.append();
  }

  int size() {
    return size;
  }

  long id(int location) {
    return blocks.get(location << 1);
  }

  long deadlineMillis(int location) {
    return blocks.get((location << 1) + 1);
  }

  /** The slot in whose list a timer is. */
  int slot(int location) {
    return (int) (owner(location >>> CHUNK_BITS) >>> 32);
  }

  /** The last timer of a slot's list, or NONE. */
  int last(int slot) {
    int[] page = last[slot >>> SLOT_PAGE_BITS];
    return page == null ? NONE : page[slot & SLOT_PAGE_MASK];
  }

  /** The timer in front of this one in its list, or NONE. */
  int before(int location) {
    if ((location & PLACE_MASK) > 1) {
      return location - 1;
    }
    int chunk = previous(location >>> CHUNK_BITS);
    return chunk == NONE ? NONE : (chunk << CHUNK_BITS) | LAST_PLACE;
  }

  boolean isEmpty(int slot) {
    return last(slot) == NONE;
  }

  /** How many timers a slot's list holds. O(1). */
  int count(int slot) {
    int location = last(slot);
    return location == NONE
        ? 0
        : (int) owner(location >>> CHUNK_BITS) * LAST_PLACE + (location & PLACE_MASK);
  }

  /** The first slot from {@code from} to before {@code to} whose list is not empty, or -1. */
  int firstOccupied(int from, int to) {
    return occupied.first(from, to);
  }

  /** Adds a timer to a slot's list and returns its location. */
  int add(int slot, long id, long deadlineMillis) {
    int end = last(slot);
    int location = end == NONE || (end & PLACE_MASK) == LAST_PLACE ? extend(slot, end) : end + 1;
    setLast(slot, location);
    blocks.set(location << 1, id);
    blocks.set((location << 1) + 1, deadlineMillis);
    size++;
    return location;
  }

  /** Removes a timer; others may move. */
  void remove(int location) {
    int slot = slot(location);
    int end = last(slot);
    if (end != location) {
      long id = id(end);
      blocks.set(location << 1, id);
      blocks.set((location << 1) + 1, deadlineMillis(end));
      moves.moved(id, end, location);
    }
    size--;
    if ((end & PLACE_MASK) > 1) {
      setLast(slot, end - 1);
    } else {
      dropChunk(slot, end >>> CHUNK_BITS);
    }
  }

  /** Replaces the deadline of a timer that stays in its slot. */
  void setDeadlineMillis(int location, long deadlineMillis) {
    blocks.set((location << 1) + 1, deadlineMillis);
  }

  long bytes() {
    long sum = blocks.bytes();
    for (int[] page : last) {
      sum += page == null ? 0 : 4L * page.length;
    }
    return sum;
  }

  private int extend(int slot, int end) {
    if (last[slot >>> SLOT_PAGE_BITS] == null) {
      last[slot >>> SLOT_PAGE_BITS] = new int[1 << SLOT_PAGE_BITS];
    }
    int chunk = takeFree();
    int before = end >>> CHUNK_BITS;
    int index = 0;
    if (before == NONE) {
      occupied.add(slot);
    } else {
      index = (int) owner(before) + 1;
      link(before, previous(before), chunk);
    }
    link(chunk, before, NONE);
    own(chunk, slot, index);
    return (chunk << CHUNK_BITS) | 1;
  }

  private void dropChunk(int slot, int chunk) {
    int before = previous(chunk);
    if (before == NONE) {
      setLast(slot, NONE);
      occupied.remove(slot);
    } else {
      setLast(slot, (before << CHUNK_BITS) | LAST_PLACE);
      link(before, previous(before), NONE);
    }
    free(chunk);
    while (freeChunks > chunks - chunks / 4 + SPARE_CHUNKS) {
      giveBackLastChunk();
    }
  }

  private int takeFree() {
    if (firstFree == NONE) {
      int chunk = blocks.append();
      chunks++;
      return chunk;
    }
    int chunk = firstFree;
    unlinkFree(chunk);
    return chunk;
  }

  private void free(int chunk) {
    own(chunk, FREE, 0);
    link(chunk, NONE, firstFree);
    if (firstFree != NONE) {
      link(firstFree, chunk, next(firstFree));
    }
    firstFree = chunk;
    freeChunks++;
  }

  private void unlinkFree(int chunk) {
    int before = previous(chunk);
    int behind = next(chunk);
    if (before == NONE) {
      firstFree = behind;
    } else {
      link(before, previous(before), behind);
    }
    if (behind != NONE) {
      link(behind, before, next(behind));
    }
    freeChunks--;
  }

  /** Empties the last of all chunks into a free one, so that memory can be given back. */
  private void giveBackLastChunk() {
    int from = blocks.last();
    if ((int) (owner(from) >>> 32) == FREE) {
      unlinkFree(from);
    } else {
      int to = firstFree;
      unlinkFree(to);
      blocks.copy(from, to);
      replace(from, to);
    }
    blocks.removeLast();
    chunks--;
  }

  /** Puts a chunk, already copied, into the other's place in its chain. */
  private void replace(int from, int to) {
    int before = previous(to);
    int behind = next(to);
    int slot = (int) (owner(to) >>> 32);
    int places = LAST_PLACE;
    if (before != NONE) {
      link(before, previous(before), to);
    }
    if (behind != NONE) {
      link(behind, to, next(behind));
    } else {
      places = last(slot) & PLACE_MASK;
      setLast(slot, (to << CHUNK_BITS) | places);
    }
    int first = (to << CHUNK_BITS) | 1;
    for (int location = first; location < first + places; location++) {
      moves.prepareToMove(id(location));
    }
    for (int place = 1; place <= places; place++) {
      int location = (to << CHUNK_BITS) | place;
      moves.moved(id(location), (from << CHUNK_BITS) | place, location);
    }
  }

  private void setLast(int slot, int location) {
    last[slot >>> SLOT_PAGE_BITS][slot & SLOT_PAGE_MASK] = location;
  }

  private long owner(int chunk) {
    return blocks.get((chunk << (CHUNK_BITS + 1)) + OWNER);
  }

  private void own(int chunk, int slot, int index) {
    blocks.set((chunk << (CHUNK_BITS + 1)) + OWNER, ((long) slot << 32) | index);
  }

  private int previous(int chunk) {
    return (int) (blocks.get(chunk << (CHUNK_BITS + 1)) >>> 32);
  }

  private int next(int chunk) {
    return (int) blocks.get(chunk << (CHUNK_BITS + 1));
  }

  private void link(int chunk, int previous, int next) {
    blocks.set(chunk << (CHUNK_BITS + 1), ((long) previous << 32) | next);
  }
}
