package io.ordertimeout.engine;

/** A set of longs that only grows, stored with linear probing and no object per member. */
final class LongSet {

  private long[] table = new long[16];
  private boolean hasZero;
  private int size;

  /** Adds a member. Returns false if it was already present. */
  boolean add(long member) {
    if (member == 0) {
      boolean added = !hasZero;
      hasZero = true;
      return added;
    }
    if (size * 2 >= table.length) {
      grow();
    }
    int place = find(table, member);
    if (table[place] == member) {
      return false;
    }
    table[place] = member;
    size++;
    return true;
  }

  boolean contains(long member) {
    return member == 0 ? hasZero : table[find(table, member)] == member;
  }

  private void grow() {
    long[] larger = new long[Math.multiplyExact(table.length, 2)];
    for (long member : table) {
      if (member != 0) {
        larger[find(larger, member)] = member;
      }
    }
    table = larger;
  }

  /** Returns the index of the member, or the free index where it would be inserted. */
  private static int find(long[] table, long member) {
    int mask = table.length - 1;
    int place = Hashing.spread(member) & mask;
    while (table[place] != 0 && table[place] != member) {
      place = (place + 1) & mask;
    }
    return place;
  }
}
