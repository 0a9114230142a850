package io.ordertimeout.orders.benchmarks.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The pauses of a JVM's garbage collector, from the JVM's log of them. */
public final class GcPauses {

  private static final Pattern PAUSE =
      Pattern.compile("\\[(\\d+\\.\\d+)s\\].* Pause .* (\\d+\\.\\d+)ms");

  private final Path log;

  GcPauses(Path log) {
    this.log = log;
  }

  /** The number of pauses so far. */
  public int count() {
    return millis().size();
  }

  /** The longest of the pauses after the first ones, in milliseconds; 0 if there are none. */
  public double longestMillisAfter(int first) {
    return millis().stream().skip(first).mapToDouble(Double::doubleValue).max().orElse(0);
  }

  private List<Double> millis() {
    try (Stream<String> lines = Files.lines(log)) {
      return lines.map(PAUSE::matcher).filter(Matcher::find).map(GcPauses::millis).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static double millis(Matcher pause) {
    return Double.parseDouble(pause.group(2));
  }
}
