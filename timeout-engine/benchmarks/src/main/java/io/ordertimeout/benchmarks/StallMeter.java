package io.ordertimeout.benchmarks;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * Finds the longest of many calls, with and without the calls during which a garbage collection
 * ended.
 */
final class StallMeter {

  /**
   * Shorter calls cannot be the longest of a fill, and querying the collectors would cost more than
   * they take.
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
   * Records that a call has returned. The next call begins now, including the benchmark's
   * preparation.
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
