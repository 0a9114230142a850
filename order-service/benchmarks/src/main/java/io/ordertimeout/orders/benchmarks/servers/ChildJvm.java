package io.ordertimeout.orders.benchmarks.servers;

import io.ordertimeout.embedded.EndOfJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A Java program in a process of its own, which ends with this JVM at the latest. Its output goes
 * to a log file and its pauses to another one.
 */
public final class ChildJvm implements AutoCloseable {

  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Process process;
  private final EndOfJvm reaper;
  private final CpuTime cpu;
  private final GcPauses pauses;

  private ChildJvm(Process process, GcPauses pauses) {
    this.process = process;
    this.reaper = EndOfJvm.release("reaper", process::destroyForcibly);
    this.cpu = new CpuTime(process.toHandle());
    this.pauses = pauses;
  }

  /**
   * Starts a main class of this program.
   *
   * @param log the file of its output; that of its pauses is beside it
   */
  public static ChildJvm ofClass(
      Path log, String heap, Class<?> mainClass, List<String> arguments) {
    List<String> program =
        List.of("-cp", System.getProperty("java.class.path"), mainClass.getName());
    return start(log, heap, program, arguments);
  }

  /** Starts a runnable jar. */
  public static ChildJvm ofJar(Path log, String heap, Path jar, List<String> arguments) {
    return start(log, heap, List.of("-jar", jar.toString()), arguments);
  }

  private static ChildJvm start(
      Path log, String heap, List<String> program, List<String> arguments) {
    Path pauses = log.resolveSibling(log.getFileName() + ".gc");
    List<String> command = new ArrayList<>(List.of(JAVA, "-Xmx" + heap));
    command.add("-Xlog:gc:file=" + pauses + ":uptime");
    command.addAll(program);
    command.addAll(arguments);
    try {
      return new ChildJvm(
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start(),
          new GcPauses(pauses));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public CpuTime cpu() {
    return cpu;
  }

  public GcPauses pauses() {
    return pauses;
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Ends it as a power failure does. */
  public void kill() {
    process.destroyForcibly();
    awaitEnd();
    reaper.cancel();
  }

  /** Asks it to end, and kills it after a minute. */
  @Override
  public void close() {
    process.destroy();
    awaitEnd();
    kill();
  }

  private void awaitEnd() {
    try {
      process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
