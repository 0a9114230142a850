package io.ordertimeout.engine;

import java.util.function.LongToIntFunction;

/**
 * A software prefetcher for bulk changes. It reads the memory that the changes are about to read,
 * one step at a time for a whole group of timers, so that the processor overlaps many cache misses
 * instead of waiting for one after the other. It changes nothing, and what it reads may have moved
 * by the time it is needed.
 *
 * <p>Confined to one thread.
 */
final class Prefetcher {

  /** The number of timers prefetched together. Their cache lines fit in the first-level cache. */
  static final int GROUP_SIZE = 32;

  /** Below this number of timers, everything is in the processor's caches anyway. */
  private static final int MIN_TIMERS = 1 << 14;

  private final TimerIndex index;
  private final TimerLists timers;
  private final LongToIntFunction slotOfDeadline;

  private final int[] hashes = new int[GROUP_SIZE];
  private final int[] addresses = new int[GROUP_SIZE];
  private final int[] locations = new int[GROUP_SIZE];

  /** Keeps the compiler from eliminating the prefetching reads. */
  @SuppressWarnings("UnusedVariable")
  private long sink;

  Prefetcher(TimerIndex index, TimerLists timers, LongToIntFunction slotOfDeadline) {
    this.index = index;
    this.timers = timers;
    this.slotOfDeadline = slotOfDeadline;
  }

  /** Prefetches for scheduling up to GROUP_SIZE timers that are not armed. */
  void prefetchForSchedule(long[] ids, long[] deadlinesMillis, int from, int to) {
    if (timers.size() < MIN_TIMERS) {
      return;
    }
    int count = to - from;
    for (int i = 0; i < count; i++) {
      addresses[i] = index.address(Hashing.spread(ids[from + i]));
      locations[i] = timers.last(slotOfDeadline.applyAsInt(deadlinesMillis[from + i]));
    }
    readTimers(count);
    readEntries(count);
  }

  /** Prefetches for cancelling up to GROUP_SIZE timers. */
  void prefetchForCancel(long[] ids, int from, int to) {
    if (timers.size() < MIN_TIMERS) {
      return;
    }
    int count = to - from;
    for (int i = 0; i < count; i++) {
      hashes[i] = Hashing.spread(ids[from + i]);
      addresses[i] = index.address(hashes[i]);
    }
    readEntries(count);
    int found = 0;
    for (int i = 0; i < count; i++) {
      int location = index.firstCandidate(hashes[i]);
      locations[found] = location;
      found += location == TimerLists.NONE ? 0 : 1;
    }
    readTimers(found);
    // The last timer of the list takes the place of the removed one.
    for (int i = 0; i < found; i++) {
      locations[i] = timers.last(timers.slot(locations[i]));
    }
    readTimers(found);
    for (int i = 0; i < found; i++) {
      addresses[i] = index.address(Hashing.spread(timers.id(locations[i])));
    }
    readEntries(found);
  }

  /**
   * Prefetches for removing the last {@code count} timers of a slot, or the last GROUP_SIZE of
   * them.
   */
  void prefetchForRemoval(int slot, int count) {
    if (timers.size() < MIN_TIMERS) {
      return;
    }
    int found = 0;
    for (int location = timers.last(slot);
        found < Math.min(count, GROUP_SIZE) && location != TimerLists.NONE;
        location = timers.before(location)) {
      addresses[found++] = index.address(Hashing.spread(timers.id(location)));
    }
    readEntries(found);
  }

  private void readTimers(int count) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += timers.id(locations[i]) + timers.slot(locations[i]);
    }
    sink += sum;
  }

  private void readEntries(int count) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += index.readEntry(addresses[i]);
    }
    sink += sum;
  }
}
