package io.ordertimeout.it.observability;

import static org.assertj.core.api.Assertions.fail;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

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

  /** Its path. A missing program fails the test, because these tests run only on request. */
  String path() {
    String name = name().toLowerCase(Locale.ROOT);
    String path = Objects.requireNonNull(System.getenv("PATH"));
    for (String folder : path.split(File.pathSeparator, -1)) {
      Path program = Path.of(folder, name);
      if (Files.isExecutable(program)) {
        return program.toString();
      }
    }
    return fail(
        "%s is not on the PATH (%s): install Debian's package with apt-get install prometheus",
        name, path);
  }

  /** Runs it with the given input. */
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
