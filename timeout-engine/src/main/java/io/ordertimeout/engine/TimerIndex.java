package io.ordertimeout.engine;

import java.util.Arrays;

/**
 * An index from ids to the locations of timers, which takes about 15 bytes per timer when it has
 * grown.
 *
 * <p>It has two levels. Linear hashing (W. Litwin, "Linear Hashing: A New Tool for File and Table
 * Addressing", VLDB 1980) distributes the ids over segments, and adds or removes one segment at a
 * time. It never rewrites more than two segments at once, some 6,000 entries, and creates hardly
 * any garbage while doing so. A segment is a hash table of buckets of eight entries, one cache line
 * each, with as many blocks as keep it 0.25 to 0.64 full. An entry that does not fit into its
 * bucket goes to the next bucket with room; deleting from a full bucket brings such entries back
 * (after D. Knuth, The Art of Computer Programming 6.4, algorithm R). A bucket with room therefore
 * always ends a search, there are no tombstones, and a wheel that runs for years does not slow
 * down.
 *
 * <p>An entry is one long: 31 bits of the id's hash, never 0, and the location. The hash alone
 * determines where an entry belongs, so rewriting a segment reads no timers, and a search reads
 * hardly any timer except the one it looks for. Buckets are searched without branches, because such
 * branches are unpredictable.
 *
 * <p>Confined to one thread. All operations are O(1), amortized over rewriting, for ids that are
 * not chosen to collide.
 */
final class TimerIndex implements TimerLists.RelocationListener {

  private static final int BLOCK_BITS = 9;
  private static final long LOCATION_MASK = (1L << 32) - 1;
  private static final int BLOCK_PLACES = 1 << BLOCK_BITS;
  private static final int BUCKET_BITS = 3;
  private static final int BUCKET_PLACES = 1 << BUCKET_BITS;
  private static final int BUCKETS_BITS = BLOCK_BITS - BUCKET_BITS;
  private static final int BUCKETS_MASK = (1 << BUCKETS_BITS) - 1;

  /** The mean number of entries per segment at which a segment is added. */
  private static final int SPLIT_AT = 3072;

  /** The mean number of entries per segment at which a segment is removed. */
  private static final int MERGE_AT = 1024;

  /** The entries per block above which a segment is rewritten with more blocks. */
  private static final int GROW_ABOVE = BLOCK_PLACES * 64 / 100;

  /** The maximum entries per block after a segment was rewritten. */
  private static final int REWRITE_TO = BLOCK_PLACES * 54 / 100;

  /** The entries per block below which a segment is rewritten with fewer blocks. */
  private static final int SHRINK_BELOW = BLOCK_PLACES * 25 / 100;

  private final PagedLongs storage = new PagedLongs(BLOCK_BITS);

  /** The block numbers of each segment. */
  private int[][] segments = new int[1][];

  private int[] counts = new int[1];
  int segmentCount = 1;

  /**
   * The mask for segment numbers. It covers twice the segments that existed when the current round
   * of splits began.
   */
  private int segmentMask = 1;

  /** The segment of each block. */
  private int[] owners = new int[1];

  /** Entries in transit to another segment or bucket. */
  private long[] gathered = new long[BLOCK_PLACES];

  private int gatheredCount;
  private int size;

  /** The result of the last search. */
  private int lastSegment;

  private int lastBucket;
  private int lastAddress;
  private int lastHash;

  /** Keeps the compiler from eliminating the prefetching reads. */
  @SuppressWarnings("UnusedVariable")
  private long sink;

  TimerIndex() {
    segments[0] = new int[] {appendBlock(0)};
  }

  /**
   * Returns the location of a timer, or {@link TimerLists#NONE}. Directly afterwards, a timer that
   * was found may be removed with {@link #removeFound}, and one that was not found may be added
   * with {@link #addNotFound}.
   */
  int find(long id, TimerLists timers) {
    int hash = Hashing.spread(id);
    int number = segmentOf(hash);
    int[] segment = segments[number];
    lastHash = hash;
    lastSegment = number;
    for (int bucket = home(hash, segment); ; bucket = next(bucket, segment)) {
      int address = address(segment, bucket);
      for (int hits = withHash(address, hash); hits != 0; hits &= hits - 1) {
        int hit = address + Integer.numberOfTrailingZeros(hits);
        int location = locationOf(storage.get(hit));
        if (timers.id(location) == id) {
          lastBucket = bucket;
          lastAddress = hit;
          return location;
        }
      }
      int empty = empty(address);
      if (empty != 0) {
        lastAddress = address + Integer.numberOfTrailingZeros(empty);
        return TimerLists.NONE;
      }
    }
  }

  /** Adds the timer that {@link #find} has just failed to find. */
  void addNotFound(int location) {
    int number = lastSegment;
    storage.set(lastAddress, entry(lastHash, location));
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
    remove(lastSegment, lastBucket, lastAddress);
  }

  /** Removes a timer that must be present. Reads no timer. */
  void remove(long id, int location) {
    locate(id, location);
    removeFound();
  }

  @Override
  public void relocated(long id, int from, int to) {
    locate(id, from);
    storage.set(lastAddress, entry(lastHash, to));
  }

  @Override
  public void prefetchRelocation(long id) {
    sink += storage.get(address(Hashing.spread(id)));
  }

  /**
   * Returns the first location stored for this hash, most likely the timer's if it is armed, or
   * {@link TimerLists#NONE}. Reads no timer.
   */
  int firstCandidate(int hash) {
    int[] segment = segments[segmentOf(hash)];
    for (int bucket = home(hash, segment); ; bucket = next(bucket, segment)) {
      int address = address(segment, bucket);
      int hits = withHash(address, hash);
      if (hits != 0) {
        return locationOf(storage.get(address + Integer.numberOfTrailingZeros(hits)));
      }
      if (empty(address) != 0) {
        return TimerLists.NONE;
      }
    }
  }

  /**
   * Returns the timers of the segment that an iteration has reached, from a position on. The upper
   * half of each element is the timer's position, the lower half its location. The elements are not
   * sorted. O(places in a segment).
   *
   * <p>A timer's position in an iteration is its hash with the bits reversed, so it does not change
   * while the timer is armed. A segment holds the hashes with the same low bits, which become the
   * high bits when reversed. Each segment is therefore one contiguous range of the iteration, even
   * if segments are split and merged meanwhile.
   */
  long[] scanSegment(int from) {
    int number = segmentOf(reversed(from));
    long[] found = new long[counts[number]];
    int count = 0;
    for (int block : segments[number]) {
      int start = block << BLOCK_BITS;
      for (int address = start; address < start + BLOCK_PLACES; address++) {
        long entry = storage.get(address);
        int position = reversed(hashOf(entry));
        if (entry != 0 && position >= from) {
          found[count++] = ((long) position << 32) | locationOf(entry);
        }
      }
    }
    return Arrays.copyOf(found, count);
  }

  /** Returns the last position, in iteration order, of the segment that contains a position. */
  int lastPositionOfSegment(int from) {
    int hash = reversed(from);
    // A segment that is not yet split in the current round is identified by one bit less.
    int split = (hash & segmentMask) | Integer.highestOneBit(segmentMask);
    int mask = split < segmentCount ? segmentMask : segmentMask >>> 1;
    return reversed(hash | ~mask);
  }

  /** Returns the address of the entry where a search for this hash begins. */
  int address(int hash) {
    int[] segment = segments[segmentOf(hash)];
    return address(segment, home(hash, segment));
  }

  /** Returns the entry at an address. */
  long readEntry(int address) {
    return storage.get(address);
  }

  long bytes() {
    return storage.bytes() + 8L * gathered.length + 4L * (owners.length + counts.length);
  }

  /** Reverses the 31 bits. Its own inverse. */
  private static int reversed(int bits) {
    return Integer.reverse(bits) >>> 1;
  }

  private int segmentOf(int hash) {
    int segment = hash & segmentMask;
    return segment < segmentCount ? segment : hash & (segmentMask >>> 1);
  }

  /** Returns the home bucket of an entry. Larger hashes have later buckets. */
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

  /** Returns a bit for each entry of a bucket with this hash. */
  private int withHash(int address, int hash) {
    long[] page = storage.page(address);
    int offset = PagedLongs.offset(address);
    long bits = 0;
    for (int i = 0; i < BUCKET_PLACES; i++) {
      // The sign bit is set only if the difference was zero.
      bits |= (((page[offset + i] >>> 32) ^ hash) - 1) >>> 63 << i;
    }
    return (int) bits;
  }

  /** Returns a bit for each empty place of a bucket. */
  private int empty(int address) {
    long[] page = storage.page(address);
    int offset = PagedLongs.offset(address);
    long bits = 0;
    for (int i = 0; i < BUCKET_PLACES; i++) {
      bits |= (page[offset + i] - 1) >>> 63 << i;
    }
    return (int) bits;
  }

  /** Returns a bit for each entry of a bucket with this location. */
  private int withLocation(int address, int location) {
    long[] page = storage.page(address);
    int offset = PagedLongs.offset(address);
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

  /** Finds, by its location, an entry that must be present. */
  private void locate(long id, int location) {
    int hash = Hashing.spread(id);
    int number = segmentOf(hash);
    int[] segment = segments[number];
    for (int bucket = home(hash, segment); ; bucket = next(bucket, segment)) {
      int address = address(segment, bucket);
      int hits = withLocation(address, location);
      if (hits != 0) {
        lastHash = hash;
        lastSegment = number;
        lastBucket = bucket;
        lastAddress = address + Integer.numberOfTrailingZeros(hits);
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
        long entry = storage.get(address + i);
        // An entry that overflowed past the gap may move back into it.
        if (entry != 0 && distance(home(hashOf(entry), segment), bucket, segment) >= least) {
          storage.set(gap, entry);
          gap = address + i;
          gapBucket = bucket;
          break;
        }
      }
    }
    storage.set(gap, 0);
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
        storage.set(address + Integer.numberOfTrailingZeros(empty), entry);
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
    int split = added - Integer.highestOneBit(added);
    gather(split);
    segments[added] = new int[0];
    segmentCount++;
    segmentMask = 2 * Integer.highestOneBit(added) - 1;
    scatter(split, added);
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

  /** Moves all entries out of a segment. */
  private void gather(int segment) {
    int needed = gatheredCount + counts[segment];
    if (needed > gathered.length) {
      gathered = Arrays.copyOf(gathered, needed + needed / 4);
    }
    for (int block : segments[segment]) {
      int start = block << BLOCK_BITS;
      for (int address = start; address < start + BLOCK_PLACES; address++) {
        long entry = storage.get(address);
        if (entry != 0) {
          gathered[gatheredCount++] = entry;
        }
      }
      storage.clearBlock(block);
    }
    counts[segment] = 0;
  }

  /**
   * Moves all gathered entries to the segments where they belong, after sizing the given segments
   * to fit.
   */
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

  /** Changes the number of blocks of an empty segment. */
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
    int block = storage.appendBlock();
    if (block >= owners.length) {
      owners = Arrays.copyOf(owners, 2 * block);
    }
    owners[block] = segment;
    return block;
  }

  /** Frees an empty block. The last block takes over its number. */
  private void freeBlock(int block) {
    int last = storage.lastBlock();
    if (last != block) {
      storage.copyBlock(last, block);
      storage.clearBlock(last);
      int[] segment = segments[owners[last]];
      for (int i = 0; i < segment.length; i++) {
        if (segment[i] == last) {
          segment[i] = block;
        }
      }
      owners[block] = owners[last];
    }
    storage.removeLastBlock();
  }
}
