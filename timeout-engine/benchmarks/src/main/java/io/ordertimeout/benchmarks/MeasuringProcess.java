package io.ordertimeout.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A separate process per measurement, so that measurements share neither heap nor compiled code. It
 * prints its figures, one per line.
 */
final class MeasuringProcess {

  private MeasuringProcess() {}

  /** Starts a process and waits for its figures. */
  static Outcome run(
      TaskType task, Implementation implementation, int size, Effort effort, String heap) {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx" + heap,
            "-XX:+UseG1GC",
            "-cp",
            System.getProperty("java.class.path"),
            MeasuringProcess.class.getName(),
            task.option(),
            implementation.option(),
            Integer.toString(size),
            Integer.toString(effort.iterations()),
            Long.toString(effort.iterationMillis()));
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      List<Figure> figures = new ArrayList<>();
      String failure = "no reason given";
      try (BufferedReader output = process.inputReader()) {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
          Figure.parse(line).ifPresent(figures::add);
          if (line.contains("Error") || line.contains("Exception")) {
            failure = line.strip();
          }
        }
      }
      return process.waitFor() == 0 ? new Outcome(figures, "") : new Outcome(List.of(), failure);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while measuring", e);
    }
  }

  /**
   * Runs one measurement.
   *
   * @param arguments the task, the implementation, the size, the iterations, the milliseconds of
   *     each
   */
  public static void main(String[] arguments) {
    BenchmarkTask task = TaskType.of(arguments[0]).task();
    Implementation implementation = Implementation.of(arguments[1]);
    int size = Integer.parseInt(arguments[2]);
    Effort effort = new Effort(Integer.parseInt(arguments[3]), Long.parseLong(arguments[4]));
    int exit = 1;
    try {
      task.run(implementation, size, effort).forEach(figure -> System.out.println(figure.line()));
      exit = 0;
    } catch (RuntimeException | OutOfMemoryError e) {
      System.out.println(e);
    }
    // Ends any threads that an implementation has left running.
    System.exit(exit);
  }
}
