package io.ordertimeout.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The CPU time of the whole process: the timers's threads and the collector's count too. */
final class ProcessCpu {

  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private ProcessCpu() {}

  static long nanos() {
    return SYSTEM.getProcessCpuTime();
  }
}
