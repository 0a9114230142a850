package io.ordertimeout.orders.benchmarks;

import io.ordertimeout.embedded.Directories;
import io.ordertimeout.orders.benchmarks.contender.ServiceProgram;
import io.ordertimeout.orders.benchmarks.measurement.Run;
import io.ordertimeout.orders.benchmarks.report.HtmlReport;
import io.ordertimeout.orders.benchmarks.report.MarkdownReport;
import io.ordertimeout.orders.benchmarks.report.Results;
import io.ordertimeout.orders.benchmarks.servers.Servers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures the service, bare SQL and general schedulers on the same servers, and judges the
 * service's cancellations meanwhile.
 */
public final class Benchmarks {

  private Benchmarks() {}

  /** Ends with 1 if the service has cancelled wrongly, and with 2 if an option is invalid. */
  public static void main(String[] arguments) throws IOException, SQLException {
    Path temporary =
        Path.of(
            System.getProperty("java.io.tmpdir"),
            "order-benchmarks-" + ProcessHandle.current().pid());
    Options options;
    try {
      options = Options.of(temporary, arguments);
      if (!Files.exists(options.serviceJar())) {
        throw new IllegalArgumentException(
            "There is no " + options.serviceJar() + "; build it, or name it with --service-jar");
      }
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.err.println(Options.USAGE);
      System.exit(2);
      return;
    }
    boolean isRight = run(options).isEmpty();
    if (isRight && options.directory().equals(temporary)) {
      Directories.delete(temporary);
    }
    System.exit(isRight ? 0 : 1);
  }

  /** Returns what is wrong with the service's cancellations. */
  static List<String> run(Options options) throws IOException, SQLException {
    Results results = new Results();
    List<String> violations = new ArrayList<>();
    for (int run = 1; run <= options.runs(); run++) {
      Path directory = options.directory().resolve("run-" + run);
      try (Servers servers = Servers.start(directory, options.partitions())) {
        Run measured =
            new Run(
                servers,
                options.scale(),
                new ServiceProgram(options.serviceJar(), options.heap(), options.jvmOptions()),
                results,
                Benchmarks::log);
        violations.addAll(
            options.firstStartOnly() ? measured.firstStart() : measured.measure(options.peers()));
      }
      write(options, results, violations);
    }
    return violations;
  }

  private static void write(Options options, Results results, List<String> violations)
      throws IOException {
    List<String> about = about(options);
    about.add(
        violations.isEmpty()
            ? "Every order was decided rightly: 0 violations"
            : violations.size() + " violations, such as " + violations.get(0));
    String markdown = MarkdownReport.of(about, results);
    Files.writeString(Path.of(options.out() + ".md"), markdown);
    Files.writeString(Path.of(options.out() + ".html"), HtmlReport.of(about, results));
    System.out.println(markdown);
  }

  private static List<String> about(Options options) {
    return new ArrayList<>(
        List.of(
            "%s, %d cores, Java %s, %s %s"
                .formatted(
                    LocalDate.now(ZoneOffset.UTC),
                    Runtime.getRuntime().availableProcessors(),
                    System.getProperty("java.version"),
                    System.getProperty("os.name"),
                    System.getProperty("os.arch")),
            "Everything runs on this machine; contenders have a heap of " + options.heap(),
            "Postgres: fsync and synchronous_commit on, "
                + String.join(", ", Servers.POSTGRES_SETTINGS),
            "Runs: %d; with several, a figure is the median with the least and the greatest"
                .formatted(options.runs())));
  }

  private static void log(String line) {
    System.err.println(LocalTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.SECONDS) + " " + line);
  }
}
