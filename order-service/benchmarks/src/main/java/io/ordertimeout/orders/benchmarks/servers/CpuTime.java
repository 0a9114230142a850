package io.ordertimeout.orders.benchmarks.servers;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The CPU time of a process and its descendants. Descendants that have ended count with what they
 * had used when they were last seen, so it should be read every second. Thread-safe.
 */
public final class CpuTime {

  private final ProcessHandle process;
  private final Map<Long, Duration> used = new HashMap<>();

  public CpuTime(ProcessHandle process) {
    this.process = process;
  }

  /** Returns what was used since the process began. */
  public synchronized Duration used() {
    Stream.concat(Stream.of(process), process.descendants())
        .forEach(
            each ->
                each.info()
                    .totalCpuDuration()
                    .ifPresent(cpu -> used.merge(each.pid(), cpu, CpuTime::longer)));
    return used.values().stream().reduce(Duration.ZERO, Duration::plus);
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }
}
