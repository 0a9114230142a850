package io.ordertimeout.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;

/** The heap that is reachable. */
final class HeapUsage {

  private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();

  private HeapUsage() {}

  /** Collects garbage twice, then tells the bytes used. */
  static long bytes() {
    MEMORY.gc();
    MEMORY.gc();
    return MEMORY.getHeapMemoryUsage().getUsed();
  }
}
