package io.ordertimeout.it.docker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** Locations of files in this project. */
final class ProjectFiles {

  static final Path TOP = Path.of("..").toAbsolutePath().normalize();
  static final Path DOCKER = TOP.resolve("deploy/docker");

  private ProjectFiles() {}

  static Dockerfile dockerfile() {
    return Dockerfile.read(DOCKER.resolve("Dockerfile"));
  }

  static ComposeFile compose() {
    return ComposeFile.read(DOCKER.resolve("compose.yaml"));
  }

  static ComposeFile observability() {
    return ComposeFile.read(DOCKER.resolve("compose.observability.yaml"));
  }

  /** Runs a command to its end and returns its exit code. */
  static int exitCode(ProcessBuilder builder) {
    try {
      return builder.start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
