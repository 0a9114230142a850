package io.ordertimeout.engine;

import java.util.Arrays;

/**
 * The nodes of a wheel and the lists they hang in, one list per slot, as arrays of primitives.
 *
 * <p>A node is a number. It is free, or detached, or in the list of one slot. Lists are doubly
 * linked, and where a list ends the link holds the complement of its slot, so that a node can be
 * unlinked without knowing its slot.
 */
final class TimerNodes {

  /** No node, no slot. */
  static final int NONE = -1;

  static final int SLOT_BITS = 6;
  static final int SLOTS_PER_LEVEL = 1 << SLOT_BITS;

  /** Six bits each: eleven levels are needed for 64 bits. */
  static final int LEVELS = 11;

  private static final int SLOTS = LEVELS * SLOTS_PER_LEVEL;

  private final int[] first = new int[SLOTS];
  private final int[] last = new int[SLOTS];

  /** A bit for each slot of a level that is not empty. */
  private final long[] occupied = new long[LEVELS];

  private long[] ids;
  private long[] deadlinesMillis;
  private int[] next;
  private int[] previous;

  /** The free list goes through {@code next}; nodes from {@code unused} on were never used. */
  private int firstFree = NONE;

  private int unused;
  private int size;

  TimerNodes(int capacity) {
    ids = new long[capacity];
    deadlinesMillis = new long[capacity];
    next = new int[capacity];
    previous = new int[capacity];
    for (int slot = 0; slot < SLOTS; slot++) {
      first[slot] = ~slot;
      last[slot] = ~slot;
    }
  }

  int capacity() {
    return ids.length;
  }

  int size() {
    return size;
  }

  long id(int node) {
    return ids[node];
  }

  long deadlineMillis(int node) {
    return deadlinesMillis[node];
  }

  void setDeadlineMillis(int node, long deadlineMillis) {
    deadlinesMillis[node] = deadlineMillis;
  }

  /** Makes room. If memory runs out nothing has changed. */
  void grow(int capacity) {
    long[] largerIds = Arrays.copyOf(ids, capacity);
    long[] largerDeadlines = Arrays.copyOf(deadlinesMillis, capacity);
    int[] largerNext = Arrays.copyOf(next, capacity);
    int[] largerPrevious = Arrays.copyOf(previous, capacity);
    ids = largerIds;
    deadlinesMillis = largerDeadlines;
    next = largerNext;
    previous = largerPrevious;
  }

  /** Takes a free node, detached. There has to be one: size() &lt; capacity(). */
  int allocate(long id, long deadlineMillis) {
    int node = firstFree;
    if (node == NONE) {
      node = unused++;
    } else {
      firstFree = next[node];
    }
    ids[node] = id;
    deadlinesMillis[node] = deadlineMillis;
    size++;
    return node;
  }

  /** Gives back a detached node. */
  void free(int node) {
    next[node] = firstFree;
    firstFree = node;
    size--;
  }

  /** Hangs a detached node at the end of a slot's list. */
  void append(int slot, int node) {
    int before = last[slot];
    previous[node] = before;
    next[node] = ~slot;
    last[slot] = node;
    if (before < 0) {
      first[slot] = node;
      occupied[slot >>> SLOT_BITS] |= 1L << slot;
    } else {
      next[before] = node;
    }
  }

  /** Detaches a node from the slot it hangs in. */
  void unlink(int node) {
    int before = previous[node];
    int after = next[node];
    if (before < 0) {
      first[~before] = after;
    } else {
      next[before] = after;
    }
    if (after < 0) {
      last[~after] = before;
    } else {
      previous[after] = before;
    }
    if (before < 0 && after < 0) {
      occupied[~before >>> SLOT_BITS] &= ~(1L << ~before);
    }
  }

  /** The node at the head of a slot's list, or a negative number if the list is empty. */
  int first(int slot) {
    return first[slot];
  }

  /** The node behind, or a negative number at the end of the list. */
  int next(int node) {
    return next[node];
  }

  boolean isEmpty(int slot) {
    return first[slot] < 0;
  }

  long occupied(int level) {
    return occupied[level];
  }

  /** A copy with fewer nodes, each in its slot and in the same order. */
  TimerNodes compacted(int capacity) {
    TimerNodes copy = new TimerNodes(capacity);
    for (int slot = 0; slot < SLOTS; slot++) {
      for (int node = first[slot]; node >= 0; node = next[node]) {
        copy.append(slot, copy.allocate(ids[node], deadlinesMillis[node]));
      }
    }
    return copy;
  }
}
