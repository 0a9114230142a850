package io.ordertimeout.benchmarks;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/** Finds the longest call of many, with and without the calls during which the collector ran. */
final class StallMeter {

  /**
   * Shorter calls cannot be the worst of a fill; asking for collections costs more than they do.
   */
  private static final long NOTEWORTHY_NANOS = 50_000;

  private final List<GarbageCollectorMXBean> collectors =
      ManagementFactory.getGarbageCollectorMXBeans();

  private long lastNanos;
  private long lastCollections;
  private long worstNanos;
  private long worstNanosWithoutGc;

  void start() {
    lastCollections = collections();
    lastNanos = System.nanoTime();
  }

  /**
   * Says that a call has returned; the next one begins now, with what the benchmark does for it.
   */
  void called() {
    long nanos = System.nanoTime();
    long taken = nanos - lastNanos;
    lastNanos = nanos;
    if (taken > NOTEWORTHY_NANOS) {
      noteStall(taken);
    }
  }

  double worstMillis() {
    return worstNanos / 1e6;
  }

  double worstMillisWithoutGc() {
    return worstNanosWithoutGc / 1e6;
  }

  private void noteStall(long taken) {
    worstNanos = Math.max(worstNanos, taken);
    long collections = collections();
    if (collections == lastCollections) {
      worstNanosWithoutGc = Math.max(worstNanosWithoutGc, taken);
    }
    lastCollections = collections;
    lastNanos = System.nanoTime();
  }

  private long collections() {
    return collectors.stream().mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
  }
}
