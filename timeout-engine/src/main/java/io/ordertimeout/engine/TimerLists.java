package io.ordertimeout.engine;

/**
 * The armed timers, in one unordered list per slot of a wheel.
 *
 * <p>A timer is identified by its location, a positive number. Removing a timer may relocate
 * another one, which is reported to the {@link RelocationListener}. Slots are numbered from 0 up to
 * a fixed limit.
 *
 * <p>A list is a chain of chunks of fifteen timers each; all chunks except the last are full. A new
 * timer is appended, and the last timer takes the place of a removed one. Lists therefore stay
 * dense under any pattern of changes and are read sequentially. A chunk is 32 longs: a header of
 * two, then the id and the deadline of each timer, which makes 17.1 bytes per timer in a full
 * chunk.
 *
 * <p>Confined to one thread. Adding and removing are O(1).
 */
final class TimerLists {

  /** Receives the new locations of timers. */
  interface RelocationListener {
    void relocated(long id, int from, int to);

    /**
     * Prefetches what {@link #relocated} will read for this timer, so that the cache misses of
     * several relocations overlap.
     */
    void prefetchRelocation(long id);
  }

  /** Represents no location and no chunk. */
  static final int NONE = 0;

  private static final int CHUNK_BITS = 4;
  private static final int PLACE_MASK = (1 << CHUNK_BITS) - 1;
  private static final int LAST_PLACE = PLACE_MASK;

  /**
   * The offset of a chunk's second long from its first, which is at 32 times the chunk's number.
   */
  private static final int OWNER = 1;

  private static final int FREE = -1;

  /**
   * Chunks are compacted when more than three quarters of all chunks, and more than this many, are
   * free.
   */
  private static final int SPARE_CHUNKS = 16;

  /** The maximum length of a short list. */
  private static final int SHORT_LIST = 8;

  private static final int SLOT_PAGE_BITS = 12;
  private static final int SLOT_PAGE_MASK = (1 << SLOT_PAGE_BITS) - 1;

  private final RelocationListener listener;

  /*
   * A location is 16 times its chunk plus 1 to 15. A timer's id is at the address of twice its
   * location and its deadline follows. The two longs before a chunk's first timer hold the previous
   * and the next chunk of the chain, and then the slot (FREE in the chain of free chunks) and the
   * number of preceding chunks in the chain.
   */
  private final PagedLongs storage = new PagedLongs(CHUNK_BITS + 1);

  /** The last location of each slot's list, NONE if it is empty. Pages are allocated on demand. */
  private final int[][] last;

  private final SlotSet occupied;

  private int firstFree = NONE;
  private int freeChunks;
  private int chunks;
  private int size;

  TimerLists(int slots, RelocationListener listener) {
    this.listener = listener;
    this.last = new int[(slots + SLOT_PAGE_MASK) >>> SLOT_PAGE_BITS][];
    this.occupied = new SlotSet(slots);
    // Chunk 0 is never used, because 0 is NONE.
    storage.appendBlock();
  }

  int size() {
    return size;
  }

  long id(int location) {
    return storage.get(location << 1);
  }

  long deadlineMillis(int location) {
    return storage.get((location << 1) + 1);
  }

  /** Returns the slot whose list contains a timer. */
  int slot(int location) {
    return (int) (owner(location >>> CHUNK_BITS) >>> 32);
  }

  /** Returns the last timer of a slot's list, or NONE. */
  int last(int slot) {
    int[] page = last[slot >>> SLOT_PAGE_BITS];
    return page == null ? NONE : page[slot & SLOT_PAGE_MASK];
  }

  /** Returns the preceding timer in the same list, or NONE. */
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

  /** Returns whether a list is so short that reading its deadlines is cheap. */
  boolean isShort(int slot) {
    return count(slot) <= SHORT_LIST;
  }

  /** Returns the number of timers in a slot's list. O(1). */
  int count(int slot) {
    int location = last(slot);
    return location == NONE
        ? 0
        : (int) owner(location >>> CHUNK_BITS) * LAST_PLACE + (location & PLACE_MASK);
  }

  /**
   * Returns the first slot from {@code from} inclusive to {@code to} exclusive whose list is not
   * empty, or -1.
   */
  int firstOccupied(int from, int to) {
    return occupied.first(from, to);
  }

  /** Adds a timer to a slot's list and returns its location. */
  int add(int slot, long id, long deadlineMillis) {
    int end = last(slot);
    int location = end == NONE || (end & PLACE_MASK) == LAST_PLACE ? extend(slot, end) : end + 1;
    setLast(slot, location);
    storage.set(location << 1, id);
    storage.set((location << 1) + 1, deadlineMillis);
    size++;
    return location;
  }

  /** Removes a timer. Other timers may be relocated. */
  void remove(int location) {
    int slot = slot(location);
    int end = last(slot);
    if (end != location) {
      long id = id(end);
      storage.set(location << 1, id);
      storage.set((location << 1) + 1, deadlineMillis(end));
      listener.relocated(id, end, location);
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
    storage.set((location << 1) + 1, deadlineMillis);
  }

  long bytes() {
    long sum = storage.bytes();
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
      int chunk = storage.appendBlock();
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

  /** Moves the last of all chunks into a free one, so that memory can be freed. */
  private void giveBackLastChunk() {
    int from = storage.lastBlock();
    if ((int) (owner(from) >>> 32) == FREE) {
      unlinkFree(from);
    } else {
      int to = firstFree;
      unlinkFree(to);
      storage.copyBlock(from, to);
      replace(from, to);
    }
    storage.removeLastBlock();
    chunks--;
  }

  /** Replaces a chunk in its chain with its copy. */
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
      listener.prefetchRelocation(id(location));
    }
    for (int place = 1; place <= places; place++) {
      int location = (to << CHUNK_BITS) | place;
      listener.relocated(id(location), (from << CHUNK_BITS) | place, location);
    }
  }

  private void setLast(int slot, int location) {
    last[slot >>> SLOT_PAGE_BITS][slot & SLOT_PAGE_MASK] = location;
  }

  private long owner(int chunk) {
    return storage.get((chunk << (CHUNK_BITS + 1)) + OWNER);
  }

  private void own(int chunk, int slot, int index) {
    storage.set((chunk << (CHUNK_BITS + 1)) + OWNER, ((long) slot << 32) | index);
  }

  private int previous(int chunk) {
    return (int) (storage.get(chunk << (CHUNK_BITS + 1)) >>> 32);
  }

  private int next(int chunk) {
    return (int) storage.get(chunk << (CHUNK_BITS + 1));
  }

  private void link(int chunk, int previous, int next) {
    storage.set(chunk << (CHUNK_BITS + 1), ((long) previous << 32) | next);
  }
}
