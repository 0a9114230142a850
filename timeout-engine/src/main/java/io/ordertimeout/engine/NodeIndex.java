package io.ordertimeout.engine;

/**
 * Finds the node of an id: open addressing with linear probing, four bytes a place. Deletion shifts
 * back what follows (Knuth, The Art of Computer Programming 6.4, algorithm R), so that there are no
 * tombstones and a wheel that runs for years does not slow down.
 */
final class NodeIndex {

  /** Node + 1, or 0 where free. At most half of the places are taken. */
  private final int[] table;

  NodeIndex(int capacity) {
    table = new int[Math.multiplyExact(capacity, 2)];
  }

  /** An index of everything in the slots of these nodes. */
  static NodeIndex of(TimerNodes nodes, int capacity) {
    NodeIndex index = new NodeIndex(capacity);
    index.addSlots(nodes);
    return index;
  }

  /** The node, or {@link TimerNodes#NONE}. */
  int find(long id, TimerNodes nodes) {
    int mask = table.length - 1;
    for (int place = Hashing.spread(id) & mask; table[place] != 0; place = (place + 1) & mask) {
      int node = table[place] - 1;
      if (nodes.id(node) == id) {
        return node;
      }
    }
    return TimerNodes.NONE;
  }

  /** Adds a node whose id is not there yet. */
  void add(int node, TimerNodes nodes) {
    int mask = table.length - 1;
    int place = Hashing.spread(nodes.id(node)) & mask;
    while (table[place] != 0) {
      place = (place + 1) & mask;
    }
    table[place] = node + 1;
  }

  /** Removes a node that is there. */
  void remove(int node, TimerNodes nodes) {
    int mask = table.length - 1;
    int gap = Hashing.spread(nodes.id(node)) & mask;
    while (table[gap] != node + 1) {
      gap = (gap + 1) & mask;
    }
    for (int place = (gap + 1) & mask; table[place] != 0; place = (place + 1) & mask) {
      int home = Hashing.spread(nodes.id(table[place] - 1)) & mask;
      // Only what would still be found from its home may move into the gap.
      if (((place - home) & mask) >= ((place - gap) & mask)) {
        table[gap] = table[place];
        gap = place;
      }
    }
    table[gap] = 0;
  }

  private void addSlots(TimerNodes nodes) {
    for (int level = 0; level < TimerNodes.LEVELS; level++) {
      for (long bits = nodes.occupied(level); bits != 0; bits &= bits - 1) {
        int slot = level << TimerNodes.SLOT_BITS | Long.numberOfTrailingZeros(bits);
        for (int node = nodes.first(slot); node >= 0; node = nodes.next(node)) {
          add(node, nodes);
        }
      }
    }
  }
}
