package io.ordertimeout.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How to run the programs of Postgres, which refuse to run as root: as we are; as root in a user
 * namespace of its own, where root is nobody (containers often forbid that); or else as the user
 * {@code nobody}, who must then own the files.
 */
enum Privileges {
  OWN,
  NAMESPACE,
  NOBODY;

  static Privileges detect() {
    if (PostgresBinaries.isWindows() || !"root".equals(System.getProperty("user.name"))) {
      return OWN;
    }
    return runs("unshare", "-U", "true") ? NAMESPACE : NOBODY;
  }

  List<String> wrap(List<String> command) {
    return switch (this) {
      case OWN -> command;
      case NAMESPACE -> {
        List<String> wrapped = new ArrayList<>(List.of("unshare", "-U"));
        wrapped.addAll(command);
        yield wrapped;
      }
      case NOBODY ->
          List.of(
              "su",
              "-s",
              "/bin/sh",
              "nobody",
              "-c",
              command.stream().map(Privileges::quote).collect(Collectors.joining(" ")));
    };
  }

  /**
   * Gives the directory and all below it to the user that {@link #wrap} runs commands as, who must
   * be able to pass through the directory above.
   */
  void own(Path directory) throws IOException {
    if (PostgresBinaries.isWindows() || !"root".equals(System.getProperty("user.name"))) {
      return;
    }
    UserPrincipal owner =
        directory
            .getFileSystem()
            .getUserPrincipalLookupService()
            .lookupPrincipalByName(this == NOBODY ? "nobody" : "root");
    if (this == NOBODY) {
      letPass(Objects.requireNonNullElse(directory.getParent(), directory));
    }
    if (Files.getOwner(directory).equals(owner)) {
      return;
    }
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        Files.setOwner(path, owner);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static void letPass(Path directory) throws IOException {
    Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(directory);
    if (permissions.add(PosixFilePermission.OTHERS_EXECUTE)) {
      Files.setPosixFilePermissions(directory, permissions);
    }
  }

  private static String quote(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  private static boolean runs(String... command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
