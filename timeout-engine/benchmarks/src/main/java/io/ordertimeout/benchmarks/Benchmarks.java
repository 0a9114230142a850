package io.ordertimeout.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Locale;

/** Measures everything and writes the tables. */
public final class Benchmarks {

  private Benchmarks() {}

  /**
   * Runs.
   *
   * @param arguments see {@link Options}
   * @throws IOException if the tables cannot be written
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
      // Written as it grows, so that a run broken off is not lost.
      Files.writeString(options.out(), report);
    }
    progress.say("written to " + options.out().toAbsolutePath());
  }

  private static String header(Options options) {
    Effort effort = options.effort();
    return String.format(
        Locale.ROOT,
        """
        # Timing wheels compared

        %s %s, %s, %d cores, -Xmx%s -XX:+UseG1GC, a process for each row.
        Means and 99.9 %% errors of %d iterations of %d ms; ratios are a row's to ours.%s

        """,
        System.getProperty("java.vm.name"),
        System.getProperty("java.runtime.version"),
        System.getProperty("os.arch"),
        Runtime.getRuntime().availableProcessors(),
        options.heap(),
        effort.iterations(),
        effort.iterationMillis(),
        options.quick() ? "\n**A quick run: too short to conclude anything from.**" : "");
  }
}
