package io.ordertimeout.it.observability;

import io.ordertimeout.it.support.Programs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A program of Debian's package {@code prometheus}. */
enum Tool {
  PROMETHEUS,
  PROMTOOL;

  /**
   * The result of a run.
   *
   * @param output of both streams
   */
  record Result(int exitCode, String output) {}

  /** Returns the program's path; a missing program fails the test. */
  String path() {
    return Programs.path(name().toLowerCase(Locale.ROOT), "prometheus").toString();
  }

  /** Runs the program with some input. */
  Result run(String input, String... arguments) {
    List<String> command = new ArrayList<>(List.of(path()));
    command.addAll(List.of(arguments));
    try {
      Path file = Files.createTempFile("input", null);
      try {
        Files.writeString(file, input);
        Process process =
            new ProcessBuilder(command)
                .redirectInput(file.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), output);
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
