package io.ordertimeout.engine;

/**
 * A two-level bitmap of slots: one bit per slot, and one summary bit per 64 slots. It finds the
 * next member without scanning empty ranges.
 *
 * <p>Confined to one thread. Adding and removing are O(1), finding is O(range / 4096).
 */
final class SlotSet {

  private final long[] words;
  private final long[] summary;

  SlotSet(int slots) {
    words = new long[(slots + 63) >>> 6];
    summary = new long[(words.length + 63) >>> 6];
  }

  void add(int slot) {
    words[slot >>> 6] |= 1L << slot;
    summary[slot >>> 12] |= 1L << (slot >>> 6);
  }

  void remove(int slot) {
    int word = slot >>> 6;
    words[word] &= ~(1L << slot);
    if (words[word] == 0) {
      summary[word >>> 6] &= ~(1L << word);
    }
  }

  /** Returns the first member from {@code from} inclusive to {@code to} exclusive, or -1. */
  int first(int from, int to) {
    if (from >= to) {
      return -1;
    }
    int word = from >>> 6;
    long bits = words[word] & (-1L << from);
    if (bits == 0) {
      word = firstWord(word + 1, (to + 63) >>> 6);
      if (word < 0) {
        return -1;
      }
      bits = words[word];
    }
    int slot = (word << 6) + Long.numberOfTrailingZeros(bits);
    return slot < to ? slot : -1;
  }

  private int firstWord(int from, int to) {
    for (int group = from >>> 6; (group << 6) < to; group++) {
      long bits = summary[group];
      if (group == from >>> 6) {
        bits &= -1L << from;
      }
      if (bits != 0) {
        int word = (group << 6) + Long.numberOfTrailingZeros(bits);
        return word < to ? word : -1;
      }
    }
    return -1;
  }
}
