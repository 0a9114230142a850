package io.ordertimeout.engine;

import java.util.Arrays;

/**
 * Finds the location of a timer by its id, in about 12 bytes a timer when it has grown.
 *
 * <p>Two levels. Linear hashing (W. Litwin, "Linear Hashing: A New Tool for File and Table
 * Addressing", VLDB 1980) spreads the ids over segments, and adds and takes away one segment at a
 * time. Within a segment there is open addressing with linear probing, over as many blocks of 512
 * places as keep it 0.4 to 0.7 full; deleting shifts back what follows (D. Knuth, The Art of
 * Computer Programming 6.4, algorithm R), so that there are no tombstones and a wheel that runs for
 * years does not slow down. So it never rewrites more than one or two segments at a time, some
 * 4,000 entries, and makes no garbage when it does.
 *
 * <p>An entry is one long: 31 bits of the id's hash, and the location. The hash alone tells where
 * an entry belongs, so rewriting a segment reads no timer; and a search reads hardly any timer but
 * the one it is for.
 *
 * <p>Confined to one thread. All operations are O(1), amortized over the rewriting, for ids that
 * are not made to collide.
 */
final class TimerIndex implements TimerLists.Moves {

  private static final int BLOCK_BITS = 9;
  private static final int BLOCK_PLACES = 1 << BLOCK_BITS;
  private static final int PLACE_MASK = BLOCK_PLACES - 1;

  /** Mean entries a segment at which one is added, and at which one is taken away. */
  private static final int SPLIT_AT = 3072;

  private static final int MERGE_AT = 2048;

  /*
   * Entries a block: where a segment gets more blocks, how many it has then at most, and where the
   * blocks could do with one less.
   */
  private static final int GROW_ABOVE = BLOCK_PLACES * 70 / 100;

  private static final int REWRITE_TO = BLOCK_PLACES * 62 / 100;
  private static final int SHRINK_BELOW = BLOCK_PLACES * 40 / 100;

  private final Blocks blocks = new Blocks(BLOCK_BITS);

  /** The numbers of the blocks of each segment. */
  private int[][] segments = new int[1][];

  private int[] counts = new int[1];
  private int segmentCount = 1;

  /** Covers the segments as they were before the splits of the present round, twice. */
  private int segmentMask = 1;

  /** The segment of each block. */
  private int[] owners = new int[1];

  /** Entries on their way into another segment or place. */
  private long[] gathered = new long[BLOCK_PLACES];

  private int gatheredCount;
  private int size;

  /** Where the last search ended, and what for. */
  private int soughtSegment;

  private int soughtPlace;
  private int soughtHash;

  TimerIndex() {
    segments[0] = new int[] {appendBlock(0)};
  }

  /**
   * The location of the timer, or {@link TimerLists#NONE}. What was found may be removed by {@link
   * #removeFound}, what was missed added by {@link #addMissed}, if nothing else happens in between.
   */
  int find(long id, TimerLists timers) {
    int hash = Hashing.spread(id);
    int number = segmentOf(hash);
    int[] segment = segments[number];
    int place = home(hash, segment.length << BLOCK_BITS);
    soughtHash = hash;
    soughtSegment = number;
    for (; ; place = nextBlock(place, segment)) {
      int address = address(segment, place);
      long[] page = blocks.page(address);
      int start = Blocks.offset(address);
      int end = start | PLACE_MASK;
      for (int offset = start; offset <= end; offset++) {
        long entry = page[offset];
        if (entry == 0) {
          soughtPlace = place + offset - start;
          return TimerLists.NONE;
        }
        if (hashOf(entry) == hash && timers.id(locationOf(entry)) == id) {
          soughtPlace = place + offset - start;
          return locationOf(entry);
        }
      }
    }
  }

  /** Adds the timer that {@link #find} has just missed. */
  void addMissed(int location) {
    int number = soughtSegment;
    int[] segment = segments[number];
    blocks.set(address(segment, soughtPlace), entry(soughtHash, location));
    counts[number]++;
    size++;
    if (counts[number] > segment.length * GROW_ABOVE) {
      gather(number);
      scatter(number);
    }
    if (size > (long) segmentCount * SPLIT_AT) {
      split();
    }
  }

  /** Removes the timer that {@link #find} has just found. */
  void removeFound() {
    remove(soughtSegment, soughtPlace);
  }

  /** Removes a timer that is there. Reads no timer. */
  void remove(long id, int location) {
    int hash = Hashing.spread(id);
    int number = segmentOf(hash);
    remove(number, placeOf(segments[number], hash, location));
  }

  private void remove(int number, int found) {
    int[] segment = segments[number];
    int places = segment.length << BLOCK_BITS;
    int gap = found;
    int gapAddress = address(segment, gap);
    for (int place = next(gap, places); ; place = next(place, places)) {
      int address = address(segment, place);
      long entry = blocks.get(address);
      if (entry == 0) {
        break;
      }
      // Only what would still be found from its home may move into the gap.
      int home = home(hashOf(entry), places);
      if (distance(home, place, places) >= distance(gap, place, places)) {
        blocks.set(gapAddress, entry);
        gap = place;
        gapAddress = address;
      }
    }
    blocks.set(gapAddress, 0);
    counts[number]--;
    size--;
    if (counts[number] < (segment.length - 1) * SHRINK_BELOW) {
      gather(number);
      scatter(number);
    }
    if (segmentCount > 1 && size < (long) segmentCount * MERGE_AT) {
      merge();
    }
  }

  @Override
  public void moved(long id, int from, int to) {
    int hash = Hashing.spread(id);
    int[] segment = segments[segmentOf(hash)];
    blocks.set(address(segment, placeOf(segment, hash, from)), entry(hash, to));
  }

  /**
   * The location that the index has first for this hash, most likely the timer's if it is armed, or
   * {@link TimerLists#NONE}. Reads no timer.
   */
  int likely(int hash) {
    int[] segment = segments[segmentOf(hash)];
    int place = home(hash, segment.length << BLOCK_BITS);
    for (; ; place = nextBlock(place, segment)) {
      int address = address(segment, place);
      long[] page = blocks.page(address);
      int start = Blocks.offset(address);
      int end = start | PLACE_MASK;
      for (int offset = start; offset <= end; offset++) {
        long entry = page[offset];
        if (entry == 0) {
          return TimerLists.NONE;
        }
        if (hashOf(entry) == hash) {
          return locationOf(entry);
        }
      }
    }
  }

  /** The address of the entry where a search for this hash begins. */
  int address(int hash) {
    int[] segment = segments[segmentOf(hash)];
    return address(segment, home(hash, segment.length << BLOCK_BITS));
  }

  /** Reads the entry at an address. */
  long read(int address) {
    return blocks.get(address);
  }

  long bytes() {
    return blocks.bytes() + 8L * gathered.length + 4L * (owners.length + counts.length);
  }

  private int segmentOf(int hash) {
    int segment = hash & segmentMask;
    return segment < segmentCount ? segment : hash & (segmentMask >>> 1);
  }

  private static int home(int hash, int places) {
    return (int) (((long) hash * places) >>> 31);
  }

  private static int next(int place, int places) {
    return place + 1 == places ? 0 : place + 1;
  }

  /** The first place of the block behind the one of this place. */
  private static int nextBlock(int place, int[] segment) {
    int next = (place | PLACE_MASK) + 1;
    return next == segment.length << BLOCK_BITS ? 0 : next;
  }

  private static int distance(int from, int to, int places) {
    return to >= from ? to - from : to - from + places;
  }

  private static int address(int[] segment, int place) {
    return (segment[place >>> BLOCK_BITS] << BLOCK_BITS) | (place & PLACE_MASK);
  }

  private static long entry(int hash, int location) {
    return ((long) hash << 32) | location;
  }

  private static int hashOf(long entry) {
    return (int) (entry >>> 32);
  }

  private static int locationOf(long entry) {
    return (int) entry;
  }

  private int placeOf(int[] segment, int hash, int location) {
    int place = home(hash, segment.length << BLOCK_BITS);
    for (; ; place = nextBlock(place, segment)) {
      int address = address(segment, place);
      long[] page = blocks.page(address);
      int start = Blocks.offset(address);
      int end = start | PLACE_MASK;
      for (int offset = start; offset <= end; offset++) {
        if (locationOf(page[offset]) == location) {
          return place + offset - start;
        }
      }
    }
  }

  private void put(int[] segment, long entry) {
    int place = home(hashOf(entry), segment.length << BLOCK_BITS);
    for (; ; place = nextBlock(place, segment)) {
      int address = address(segment, place);
      long[] page = blocks.page(address);
      int start = Blocks.offset(address);
      int end = start | PLACE_MASK;
      for (int offset = start; offset <= end; offset++) {
        if (page[offset] == 0) {
          page[offset] = entry;
          return;
        }
      }
    }
  }

  private void split() {
    int added = segmentCount;
    if (added == segments.length) {
      segments = Arrays.copyOf(segments, 2 * added);
      counts = Arrays.copyOf(counts, 2 * added);
    }
    int divided = added - Integer.highestOneBit(added);
    gather(divided);
    segments[added] = new int[0];
    segmentCount++;
    segmentMask = 2 * Integer.highestOneBit(added) - 1;
    scatter(divided, added);
  }

  private void merge() {
    int removed = segmentCount - 1;
    int enlarged = removed - Integer.highestOneBit(removed);
    gather(removed);
    resize(removed, 0);
    gather(enlarged);
    segmentCount--;
    segmentMask = removed == 1 ? 1 : 2 * Integer.highestOneBit(removed - 1) - 1;
    scatter(enlarged);
    if (segments.length > 2 * segmentCount + 16) {
      segments = Arrays.copyOf(segments, segmentCount + 8);
      counts = Arrays.copyOf(counts, segmentCount + 8);
    }
  }

  /** Takes all entries out of a segment. */
  private void gather(int segment) {
    int needed = gatheredCount + counts[segment];
    if (needed > gathered.length) {
      gathered = Arrays.copyOf(gathered, needed + needed / 4);
    }
    for (int block : segments[segment]) {
      int start = block << BLOCK_BITS;
      for (int address = start; address < start + BLOCK_PLACES; address++) {
        long entry = blocks.get(address);
        if (entry != 0) {
          gathered[gatheredCount++] = entry;
        }
      }
      blocks.clear(block);
    }
    counts[segment] = 0;
  }

  /** Puts all entries gathered into the segments where they belong, made as large as they need. */
  private void scatter(int... into) {
    for (int i = 0; i < gatheredCount; i++) {
      counts[segmentOf(hashOf(gathered[i]))]++;
    }
    for (int segment : into) {
      resize(segment, 1 + counts[segment] / REWRITE_TO);
    }
    for (int i = 0; i < gatheredCount; i++) {
      put(segments[segmentOf(hashOf(gathered[i]))], gathered[i]);
    }
    gatheredCount = 0;
    if (segmentCount == 1) {
      gathered = new long[BLOCK_PLACES];
    }
  }

  /** Changes the number of an empty segment's blocks. */
  private void resize(int segment, int length) {
    while (segments[segment].length > length) {
      int[] shorter = segments[segment];
      int freed = shorter[shorter.length - 1];
      segments[segment] = Arrays.copyOf(shorter, shorter.length - 1);
      freeBlock(freed);
    }
    while (segments[segment].length < length) {
      int[] longer = Arrays.copyOf(segments[segment], segments[segment].length + 1);
      longer[longer.length - 1] = appendBlock(segment);
      segments[segment] = longer;
    }
  }

  private int appendBlock(int segment) {
    int block = blocks.append();
    if (block >= owners.length) {
      owners = Arrays.copyOf(owners, 2 * block);
    }
    owners[block] = segment;
    return block;
  }

  /** Gives back an empty block, whose number the last one takes over. */
  private void freeBlock(int block) {
    int last = blocks.last();
    if (last != block) {
      blocks.copy(last, block);
      blocks.clear(last);
      int[] segment = segments[owners[last]];
      for (int i = 0; i < segment.length; i++) {
        if (segment[i] == last) {
          segment[i] = block;
        }
      }
      owners[block] = owners[last];
    }
    blocks.removeLast();
  }
}
