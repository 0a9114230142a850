package io.ordertimeout.engine;

import java.util.function.LongToIntFunction;

/**
 * Makes changes of many timers faster: it reads what changing them will read, step by step for all
 * of them, so that the processor waits for many reads at a time instead of one after the other. It
 * changes nothing, and what it finds may have moved when its turn comes.
 *
 * <p>Confined to one thread.
 */
final class LookAhead {

  /** Timers that are worth looking up together. Their cache lines fit in the first-level cache. */
  static final int GROUP = 32;

  /** Below so many timers everything is in the processor's caches anyway. */
  private static final int WORTH_IT = 1 << 14;

  private final TimerIndex index;
  private final TimerLists timers;
  private final LongToIntFunction slotOfDeadline;

  private final int[] hashes = new int[GROUP];
  private final int[] addresses = new int[GROUP];
  private final int[] locations = new int[GROUP];

  /** Keeps what was only read to be near from being optimized away. */
  @SuppressWarnings("UnusedVariable")
  private long seen;

  LookAhead(TimerIndex index, TimerLists timers, LongToIntFunction slotOfDeadline) {
    this.index = index;
    this.timers = timers;
    this.slotOfDeadline = slotOfDeadline;
  }

  /** Reads what scheduling up to GROUP timers will read that are not armed. */
  void toSchedule(long[] ids, long[] deadlinesMillis, int from, int to) {
    if (timers.size() < WORTH_IT) {
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

  /** Reads what cancelling up to GROUP timers will read. */
  void toCancel(long[] ids, int from, int to) {
    if (timers.size() < WORTH_IT) {
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
      int location = index.likely(hashes[i]);
      locations[found] = location;
      found += location == TimerLists.NONE ? 0 : 1;
    }
    readTimers(found);
    // The last timer of the list takes the place of the one that leaves.
    for (int i = 0; i < found; i++) {
      locations[i] = timers.last(timers.slot(locations[i]));
    }
    readTimers(found);
    for (int i = 0; i < found; i++) {
      addresses[i] = index.address(Hashing.spread(timers.id(locations[i])));
    }
    readEntries(found);
  }

  /** Reads what removing the last so many timers of a slot will read, or the last GROUP of them. */
  void toRemoveLast(int slot, int count) {
    if (timers.size() < WORTH_IT) {
      return;
    }
    int found = 0;
    for (int location = timers.last(slot);
        found < Math.min(count, GROUP) && location != TimerLists.NONE;
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
    seen += sum;
  }

  private void readEntries(int count) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += index.read(addresses[i]);
    }
    seen += sum;
  }
}
