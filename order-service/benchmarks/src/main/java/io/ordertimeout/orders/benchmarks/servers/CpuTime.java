package io.ordertimeout.orders.benchmarks.servers;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The CPU time of a process and its descendants. Descendants and threads that have ended count with
 * what they had used when they were last seen, so it should be read every second. Thread-safe.
 */
public final class CpuTime {

  /** As in every line that Linux states for a thread. */
  private static final int TICKS_PER_SECOND = 100;

  private static final String COMPILER_THREADS = "C[12] Compiler.*";

  /** Of the numbers behind the thread's name: ticks in user mode, and in the kernel. */
  private static final int USER_TICKS = 11;

  private final ProcessHandle process;
  private final Map<Long, Duration> used = new HashMap<>();
  private final Map<String, Duration> compilers = new HashMap<>();

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

  /**
   * Returns what the JIT compilers of the process, a JVM, have used of that; zero where the system
   * does not tell as Linux does.
   */
  public synchronized Duration usedByCompilers() {
    Path threads = Path.of("/proc", String.valueOf(process.pid()), "task");
    if (Files.isDirectory(threads)) {
      try (DirectoryStream<Path> directories = Files.newDirectoryStream(threads)) {
        directories.forEach(this::readThread);
      } catch (IOException e) {
        // The process has ended, and what its threads had used is known.
      }
    }
    return compilers.values().stream().reduce(Duration.ZERO, Duration::plus);
  }

  private void readThread(Path directory) {
    try {
      if (Files.readString(directory.resolve("comm")).strip().matches(COMPILER_THREADS)) {
        String stat = Files.readString(directory.resolve("stat"));
        String[] numbers = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        long ticks = Long.parseLong(numbers[USER_TICKS]) + Long.parseLong(numbers[USER_TICKS + 1]);
        compilers.merge(
            directory.getFileName().toString(),
            Duration.ofMillis(ticks * 1_000 / TICKS_PER_SECOND),
            CpuTime::longer);
      }
    } catch (IOException e) {
      // The thread has ended.
    }
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }
}
