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
  private static final Duration PATIENCE = Duration.ofMinutes(5);

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
    return start(log, heap, List.of(), program, arguments);
  }

  /**
   * Starts a runnable jar.
   *
   * @param options of the JVM, apart from its heap
   */
  public static ChildJvm ofJar(
      Path log, String heap, List<String> options, Path jar, List<String> arguments) {
    return start(log, heap, options, List.of("-jar", jar.toString()), arguments);
  }

  /** Runs a runnable jar to its end. */
  public static void runJar(Path log, List<String> options, Path jar, List<String> arguments) {
    List<String> command = new ArrayList<>(List.of(JAVA));
    command.addAll(options);
    command.addAll(List.of("-jar", jar.toString()));
    command.addAll(arguments);
    Process process = start(log, command);
    try {
      if (process.waitFor() != 0) {
        throw new IllegalStateException(jar + " has failed, see " + log);
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static ChildJvm start(
      Path log, String heap, List<String> options, List<String> program, List<String> arguments) {
    Path pauses = log.resolveSibling(log.getFileName() + ".gc");
    List<String> command = new ArrayList<>(List.of(JAVA, "-Xmx" + heap));
    command.add("-Xlog:gc:file=" + pauses + ":uptime");
    command.addAll(options);
    command.addAll(program);
    command.addAll(arguments);
    return new ChildJvm(start(log, command), new GcPauses(pauses));
  }

  private static Process start(Path log, List<String> command) {
    try {
      return new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
          .start();
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

  /** Asks it to end, and kills it after five minutes: a training run writes its archive. */
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
