package io.ordertimeout.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Locale;

/** Runs all benchmarks and writes the report. */
public final class Benchmarks {

  private Benchmarks() {}

  /**
   * Runs the benchmarks.
   *
   * @param arguments see {@link Options}
   * @throws IOException if the report cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    Options options;
    try {
      options = Options.of(arguments);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.err.println(Options.USAGE);
      System.exit(2);
      return;
    }
    Progress progress = new Progress();
    StringBuilder report = new StringBuilder(header(options));
    for (ReportSection section : BenchmarkPlan.of(options)) {
      report.append(section.measure(options.effort(), progress));
      // Written after each section, so that an interrupted run is not lost.
      Files.writeString(options.out(), report);
    }
    progress.log("written to " + options.out().toAbsolutePath());
  }

  private static String header(Options options) {
    Effort effort = options.effort();
    return String.format(
        Locale.ROOT,
        """
        # Timing wheels compared

        %s %s, %s, %d cores, -Xmx%s -XX:+UseG1GC, one process per row.
        Means and 99.9 %% errors of %d iterations of %d ms; ratios compare each row with this engine.%s

        """,
        System.getProperty("java.vm.name"),
        System.getProperty("java.runtime.version"),
        System.getProperty("os.arch"),
        Runtime.getRuntime().availableProcessors(),
        options.heap(),
        effort.iterations(),
        effort.iterationMillis(),
        options.quick() ? "\n**A quick run, too short for conclusions.**" : "");
  }
}
