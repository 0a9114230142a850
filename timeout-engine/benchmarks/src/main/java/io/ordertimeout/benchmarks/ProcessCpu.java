package io.ordertimeout.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * Measures the CPU time of the whole process, including the implementation's threads and the
 * garbage collector.
 */
final class ProcessCpu {

  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private ProcessCpu() {}

  static long nanos() {
    return SYSTEM.getProcessCpuTime();
  }
}
