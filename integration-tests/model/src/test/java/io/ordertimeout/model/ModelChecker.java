package io.ordertimeout.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tlc2.TLC;

/**
 * Runs TLC, the model checker of TLA+, in a process of its own: TLC keeps what it checks in static
 * fields, so one JVM can check one configuration. Thread-safe.
 */
final class ModelChecker {

  /** The directory of the specification and its configurations. */
  static final Path DIRECTORY = Path.of("src", "main", "tla");

  static final String MODULE = "OrderTimeout";

  private static final Path WORK = Path.of("target", "tlc");
  private static final Path ARCHIVE = Path.of("target", "tlc.jsa").toAbsolutePath();
  private static final Path LOGS = Path.of("target", "logs");
  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();
  private static final Duration TIMEOUT = Duration.ofMinutes(15);

  /** Fills the time in which the build and the other tests wait. */
  private static final List<String> IN_THE_BACKGROUND =
      Files.isExecutable(Path.of("/usr/bin/nice"))
          ? List.of("/usr/bin/nice", "-n", "10")
          : List.of();

  private static final String NO_MUTANT = "Without = {}";
  private static final List<String> COUNT = List.of("-coverage", "1");

  private static final Pattern VIOLATED = Pattern.compile("Error: Invariant (\\w+) is violated");
  private static final Pattern NOT_PROGRESSING =
      Pattern.compile("Error: Temporal properties were violated");
  private static final Pattern COMPLETE =
      Pattern.compile("Model checking completed\\. No error has been found");
  private static final Pattern STATES = Pattern.compile("(\\d+) distinct states found");
  private static final Pattern ACTION =
      Pattern.compile("(?m)^<(\\w+) line \\d+, .* of module " + MODULE + "[^>]*>: \\d+:(\\d+)");

  /** The property of which TLC says only that it is violated, since a configuration has one. */
  static final String PROGRESS = "P1_EveryOrderIsDecided";

  /**
   * What TLC found.
   *
   * @param violated the invariant or property that is violated; null if all hold
   * @param taken how often each action was taken, by its name; empty if that was not counted
   * @param states number of distinct states
   * @param log TLC's output, which contains the steps that lead to a violation
   */
  record Outcome(@Nullable String violated, Map<String, Long> taken, long states, Path log) {}

  private ModelChecker() {}

  /** Checks a configuration. */
  static Outcome check(String configuration) {
    return run(configuration, text(configuration), List.of());
  }

  /** Checks a configuration and counts its actions, which takes almost twice as long. */
  static Outcome checkAndCount(String configuration) {
    return run(configuration, text(configuration), COUNT);
  }

  /** Counts the actions in the first steps of a configuration. */
  static Outcome countInShortPaths(String configuration) {
    return run(configuration + "-short", text(configuration) + "CONSTRAINT\n  ShortPaths\n", COUNT);
  }

  /** Checks a configuration of which one safeguard is taken away. */
  static Outcome checkWithout(String safeguard, String configuration) {
    String text = text(configuration);
    if (!text.contains(NO_MUTANT)) {
      throw new IllegalStateException(configuration + ".cfg does not contain " + NO_MUTANT);
    }
    return run(
        configuration + "-without-" + safeguard,
        text.replace(NO_MUTANT, "Without = {\"" + safeguard + "\"}"),
        List.of());
  }

  private static String text(String configuration) {
    try {
      return Files.readString(DIRECTORY.resolve(configuration + ".cfg"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Outcome run(String name, String configuration, List<String> options) {
    try {
      Path directory = WORK.resolve(name).toAbsolutePath();
      delete(directory);
      Files.createDirectories(directory);
      Files.copy(
          DIRECTORY.resolve(MODULE + ".tla"),
          directory.resolve(MODULE + ".tla"),
          StandardCopyOption.REPLACE_EXISTING);
      Files.writeString(directory.resolve("model.cfg"), configuration);
      Path log = LOGS.resolve(name + ".log").toAbsolutePath();
      Files.createDirectories(log.getParent());
      runTlc(name, directory, options, log);
      Outcome outcome = outcome(log);
      delete(directory);
      return outcome;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void runTlc(String name, Path directory, List<String> options, Path log)
      throws IOException {
    List<String> command =
        Stream.of(
                IN_THE_BACKGROUND,
                List.of(JAVA, "-Xmx1g", "-XX:+UseSerialGC", "-Xshare:auto"),
                // C2 does not pay within seconds.
                List.of("-XX:TieredStopAtLevel=1"),
                classArchive(),
                // TLC unpacks the standard modules there, under fixed names, and deletes them.
                List.of("-Djava.io.tmpdir=" + directory),
                List.of("-cp", jar().toString(), TLC.class.getName()),
                List.of("-workers", "1", "-fp", "0"),
                List.of("-config", "model.cfg", "-metadir", "states"),
                options,
                List.of(MODULE))
            .flatMap(List::stream)
            .toList();
    Process tlc =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      if (!tlc.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException(name + " was not checked within " + TIMEOUT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(name + " was not checked", e);
    } finally {
      tlc.destroyForcibly();
    }
  }

  /** The first check leaves an archive of TLC's classes for the others. */
  private static List<String> classArchive() {
    return List.of(
        Files.exists(ARCHIVE)
            ? "-XX:SharedArchiveFile=" + ARCHIVE
            : "-XX:ArchiveClassesAtExit=" + ARCHIVE);
  }

  private static Path jar() {
    try {
      return Path.of(TLC.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Outcome outcome(Path log) throws IOException {
    String output = Files.readString(log);
    Map<String, Long> taken = new TreeMap<>();
    for (Matcher action = ACTION.matcher(output); action.find(); ) {
      taken.merge(action.group(1), Long.parseLong(action.group(2)), Long::sum);
    }
    long states = 0;
    for (Matcher matcher = STATES.matcher(output); matcher.find(); ) {
      states = Long.parseLong(matcher.group(1));
    }
    Matcher violated = VIOLATED.matcher(output);
    if (violated.find()) {
      return new Outcome(violated.group(1), taken, states, log);
    }
    if (NOT_PROGRESSING.matcher(output).find()) {
      return new Outcome(PROGRESS, taken, states, log);
    }
    if (!COMPLETE.matcher(output).find()) {
      throw new IllegalStateException("TLC failed, see " + log);
    }
    return new Outcome(null, taken, states, log);
  }

  private static void delete(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
