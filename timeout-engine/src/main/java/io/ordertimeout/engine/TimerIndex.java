package io.ordertimeout.engine;

import java.util.Arrays;

/**
 * Finds the location of a timer by its id, in about 15 bytes a timer when it has grown.
 *
 * <p>Two levels. Linear hashing (W. Litwin, "Linear Hashing: A New Tool for File and Table
 * Addressing", VLDB 1980) spreads the ids over segments, and adds and takes away one segment at a
 * time. So it never rewrites more than two segments at once, some 6,000 entries, and makes hardly
 * any garbage when it does. A segment is a hash table of buckets of eight entries, one cache line,
 * in as many blocks as keep it 0.25 to 0.64 full. What does not fit into a bucket goes to the next
 * that has room; deleting from a full bucket brings back what had gone on (after D. Knuth, The Art
 * of Computer Programming 6.4, algorithm R), so that a bucket with room always ends a search, there
 * are no tombstones, and a wheel that runs for years does not slow down.
 *
 * <p>An entry is one long: 31 bits of the id's hash, never 0, and the location. The hash alone
 * tells where an entry belongs, so rewriting a segment reads no timer; and a search reads hardly
 * any timer but the one it is for. A bucket is searched without branches, which processors could
 * only guess.
 *
 * <p>Confined to one thread. All operations are O(1), amortized over the rewriting, for ids that
 * are not made to collide.
 */
final class TimerIndex implements TimerLists.Moves {

  private static final int BLOCK_BITS = 9;
  private static final long LOCATION_MASK = (1L << 32) - 1;
  private static final int BLOCK_PLACES = 1 << BLOCK_BITS;
  private static final int BUCKET_BITS = 3;
  private static final int BUCKET_PLACES = 1 << BUCKET_BITS;
  private static final int BUCKETS_BITS = BLOCK_BITS - BUCKET_BITS;
  private static final int BUCKETS_MASK = (1 << BUCKETS_BITS) - 1;

  /** Mean entries a segment at which one is added, and at which one is taken away. */
  private static final int SPLIT_AT = 3072;

  private static final int MERGE_AT = 1024;

  /*
   * Entries a block: where a segment gets more blocks, how many it has then at most, and where the
   * blocks could do with one less.
   */
  private static final int GROW_ABOVE = BLOCK_PLACES * 64 / 100;

  private static final int REWRITE_TO = BLOCK_PLACES * 54 / 100;
  private static final int SHRINK_BELOW = BLOCK_PLACES * 25 / 100;

  private final Blocks blocks = new Blocks(BLOCK_BITS);

  /** The numbers of the blocks of each segment. */
  private int[][] segments = new int[1][];

  private int[] counts = new int[1];
  int segmentCount = 1;

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

  private int soughtBucket;
  private int soughtAddress;
  private int soughtHash;

  /** Keeps what was only read to be near from being optimized away. */
  @SuppressWarnings("UnusedVariable")
  private long prepared;

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
    soughtHash = hash;
    soughtSegment = number;
    for (int bucket = home(hash, segment); ; bucket = next(bucket, segment)) {
      int address = address(segment, bucket);
      for (int hits = withHash(address, hash); hits != 0; hits &= hits - 1) {
        int hit = address + Integer.numberOfTrailingZeros(hits);
        int location = locationOf(blocks.get(hit));
        if (timers.id(location) == id) {
          soughtBucket = bucket;
          soughtAddress = hit;
          return location;
        }
      }
      int empty = empty(address);
      if (empty != 0) {
        soughtAddress = address + Integer.numberOfTrailingZeros(empty);
        return TimerLists.NONE;
      }
    }
  }

  /** Adds the timer that {@link #find} has just missed. */
  void addMissed(int location) {
    int number = soughtSegment;
    blocks.set(soughtAddress, entry(soughtHash, location));
    counts[number]++;
    size++;
    if (counts[number] > segments[number].length * GROW_ABOVE) {
      gather(number);
      scatter(number);
    }
    if (size > (long) segmentCount * SPLIT_AT) {
      split();
    }
  }

  /** Removes the timer that {@link #find} has just found. */
  void removeFound() {
    remove(soughtSegment, soughtBucket, soughtAddress);
  }

  /** Removes a timer that is there. Reads no timer. */
  void remove(long id, int location) {
    seek(id, location);
    removeFound();
  }

  @Override
  public void moved(long id, int from, int to) {
    seek(id, from);
    blocks.set(soughtAddress, entry(soughtHash, to));
  }

  @Override
  public void prepareToMove(long id) {
    prepared += blocks.get(address(Hashing.spread(id)));
  }

  /**
   * The location that the index has first for this hash, most likely the timer's if it is armed, or
   * {@link TimerLists#NONE}. Reads no timer.
   */
  int likely(int hash) {
    int[] segment = segments[segmentOf(hash)];
    for (int bucket = home(hash, segment); ; bucket = next(bucket, segment)) {
      int address = address(segment, bucket);
      int hits = withHash(address, hash);
      if (hits != 0) {
        return locationOf(blocks.get(address + Integer.numberOfTrailingZeros(hits)));
      }
      if (empty(address) != 0) {
        return TimerLists.NONE;
      }
    }
  }

  /**
   * The timers of the segment that a walk has come to, from that place on: the place of each in the
   * upper half of a long, its location in the lower. In no order. O(places in a segment).
   *
   * <p>The place of a timer in a walk is its hash with the bits reversed, so it has the same one as
   * long as it is armed. A segment holds the hashes that end alike, which reversed begin alike. So
   * it is one stretch of the walk, however often segments are divided and put together meanwhile.
   */
  long[] walk(int from) {
    int number = segmentOf(reversed(from));
    long[] found = new long[counts[number]];
    int count = 0;
    for (int block : segments[number]) {
      int start = block << BLOCK_BITS;
      for (int address = start; address < start + BLOCK_PLACES; address++) {
        long entry = blocks.get(address);
        int place = reversed(hashOf(entry));
        if (entry != 0 && place >= from) {
          found[count++] = ((long) place << 32) | locationOf(entry);
        }
      }
    }
    return Arrays.copyOf(found, count);
  }

  /** The last place, in the order of a walk, of the segment that it has come to. */
  int endOfSegment(int from) {
    int hash = reversed(from);
    // Until a segment is divided in the present round, one bit less tells what belongs there.
    int divided = (hash & segmentMask) | Integer.highestOneBit(segmentMask);
    int mask = divided < segmentCount ? segmentMask : segmentMask >>> 1;
    return reversed(hash | ~mask);
  }

  /** The address of the entry where a search for this hash begins. */
  int address(int hash) {
    int[] segment = segments[segmentOf(hash)];
    return address(segment, home(hash, segment));
  }

  /** Reads the entry at an address. */
  long read(int address) {
    return blocks.get(address);
  }

  long bytes() {
    return blocks.bytes() + 8L * gathered.length + 4L * (owners.length + counts.length);
  }

  /** The 31 bits in reverse; its own inverse. */
  private static int reversed(int bits) {
    return Integer.reverse(bits) >>> 1;
  }

  private int segmentOf(int hash) {
    int segment = hash & segmentMask;
    return segment < segmentCount ? segment : hash & (segmentMask >>> 1);
  }

  /** The bucket where an entry belongs, so that larger hashes belong in later buckets. */
  private static int home(int hash, int[] segment) {
    return (int) (((long) hash * (segment.length << BUCKETS_BITS)) >>> 31);
  }

  private static int next(int bucket, int[] segment) {
    return bucket + 1 == segment.length << BUCKETS_BITS ? 0 : bucket + 1;
  }

  private static int distance(int from, int to, int[] segment) {
    return to >= from ? to - from : to - from + (segment.length << BUCKETS_BITS);
  }

  private static int address(int[] segment, int bucket) {
    return (segment[bucket >>> BUCKETS_BITS] << BLOCK_BITS)
        | ((bucket & BUCKETS_MASK) << BUCKET_BITS);
  }

  /** A bit for each entry of a bucket that has this hash. */
  private int withHash(int address, int hash) {
    long[] page = blocks.page(address);
    int offset = Blocks.offset(address);
    long bits = 0;
    for (int i = 0; i < BUCKET_PLACES; i++) {
      // Becomes negative only from zero.
      bits |= (((page[offset + i] >>> 32) ^ hash) - 1) >>> 63 << i;
    }
    return (int) bits;
  }

  /** A bit for each place of a bucket that is empty. */
  private int empty(int address) {
    long[] page = blocks.page(address);
    int offset = Blocks.offset(address);
    long bits = 0;
    for (int i = 0; i < BUCKET_PLACES; i++) {
      bits |= (page[offset + i] - 1) >>> 63 << i;
    }
    return (int) bits;
  }

  /** A bit for each entry of a bucket with this location. */
  private int withLocation(int address, int location) {
    long[] page = blocks.page(address);
    int offset = Blocks.offset(address);
    long bits = 0;
    for (int i = 0; i < BUCKET_PLACES; i++) {
      bits |= (((page[offset + i] & LOCATION_MASK) ^ location) - 1) >>> 63 << i;
    }
    return (int) bits;
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

  /** Finds an entry that is there by its location. */
  private void seek(long id, int location) {
    int hash = Hashing.spread(id);
    int number = segmentOf(hash);
    int[] segment = segments[number];
    for (int bucket = home(hash, segment); ; bucket = next(bucket, segment)) {
      int address = address(segment, bucket);
      int hits = withLocation(address, location);
      if (hits != 0) {
        soughtHash = hash;
        soughtSegment = number;
        soughtBucket = bucket;
        soughtAddress = address + Integer.numberOfTrailingZeros(hits);
        return;
      }
    }
  }

  private void remove(int number, int found, int foundAddress) {
    int[] segment = segments[number];
    int gap = foundAddress;
    int gapBucket = found;
    int bucket = found;
    while (empty(address(segment, bucket)) == 0) {
      bucket = next(bucket, segment);
      int address = address(segment, bucket);
      int least = distance(gapBucket, bucket, segment);
      for (int i = 0; i < BUCKET_PLACES; i++) {
        long entry = blocks.get(address + i);
        // What had to go on past the gap may come back into it.
        if (entry != 0 && distance(home(hashOf(entry), segment), bucket, segment) >= least) {
          blocks.set(gap, entry);
          gap = address + i;
          gapBucket = bucket;
          break;
        }
      }
    }
    blocks.set(gap, 0);
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

  private void put(int[] segment, long entry) {
    for (int bucket = home(hashOf(entry), segment); ; bucket = next(bucket, segment)) {
      int address = address(segment, bucket);
      int empty = empty(address);
      if (empty != 0) {
        blocks.set(address + Integer.numberOfTrailingZeros(empty), entry);
        return;
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
