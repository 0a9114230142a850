package io.ordertimeout.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;

/** Measures the reachable heap. */
final class HeapUsage {

  private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();

  private HeapUsage() {}

  /** Collects garbage twice and returns the bytes in use. */
  static long bytes() {
    MEMORY.gc();
    MEMORY.gc();
    return MEMORY.getHeapMemoryUsage().getUsed();
  }
}
