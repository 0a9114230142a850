package io.ordertimeout.it.support;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;

/** Programs of Debian's packages. */
public final class Programs {

  private Programs() {}

  /**
   * Returns the path of a program, on the PATH or among those for administrators.
   *
   * @throws IllegalStateException if it is not installed, which fails the test
   */
  public static Path path(String name, String debianPackage) {
    String folders = Objects.requireNonNull(System.getenv("PATH"));
    return Stream.concat(
            Arrays.stream(folders.split(File.pathSeparator, -1)), Stream.of("/usr/sbin"))
        .map(folder -> Path.of(folder, name))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "%s is not on the PATH (%s): install Debian's package with apt-get install %s"
                        .formatted(name, folders, debianPackage)));
  }
}
