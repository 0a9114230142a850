package io.ordertimeout.it.support;

import io.ordertimeout.embedded.EndOfJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process that is killed when this JVM ends, if not before. */
public final class ChildProcess {

  /** The program that runs this JVM. */
  public static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();

  private final Process process;
  private final EndOfJvm reaper;

  private ChildProcess(Process process) {
    this.process = process;
    this.reaper = EndOfJvm.release("reaper", process::destroyForcibly);
  }

  /** Starts it; its output is appended to the log file of that name. */
  public static ChildProcess start(String logName, List<String> command) {
    return start(logName, new ProcessBuilder(command));
  }

  /** Starts it in the directory and environment of the builder. */
  public static ChildProcess start(String logName, ProcessBuilder builder) {
    try {
      Path log = log(logName);
      Files.createDirectories(log.getParent());
      return new ChildProcess(
          builder
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The log file of that name. */
  public static Path log(String logName) {
    return Path.of(System.getProperty("service.logs", "target/service-logs"), logName + ".log");
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** The exit code of a process that has ended. */
  public int exitCode() {
    return process.exitValue();
  }

  public long pid() {
    return process.pid();
  }

  /** Waits for its end. Returns whether it ended. */
  public boolean awaitEnd(Duration patience) {
    try {
      return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Kills it (SIGKILL), even while it is frozen. */
  public void kill() {
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    reaper.cancel();
  }

  /** Asks it to end (SIGTERM) and kills it otherwise. Returns whether it ended by itself. */
  public boolean stop(Duration patience) {
    process.destroy();
    boolean ended = awaitEnd(patience);
    kill();
    return ended;
  }

  /** Sends a signal, such as {@code STOP} or {@code CONT}. */
  public void signal(String signal) {
    try {
      int exit =
          new ProcessBuilder("kill", "-" + signal, String.valueOf(pid()))
              .inheritIO()
              .start()
              .waitFor();
      if (exit != 0) {
        throw new IllegalStateException("kill -" + signal + " " + pid() + " ended with " + exit);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
