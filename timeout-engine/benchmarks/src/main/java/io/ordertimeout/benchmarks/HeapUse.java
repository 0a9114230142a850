package io.ordertimeout.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;

/** The heap that is reachable. */
final class HeapUse {

  private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();

  private HeapUse() {}

  /** Collects garbage twice, then tells the bytes used. */
  static long bytes() {
    MEMORY.gc();
    MEMORY.gc();
    return MEMORY.getHeapMemoryUsage().getUsed();
  }
}
