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

/** User under which Postgres programs run, since they refuse to run as root. */
enum RunAs {
  /** The current user, which is not root. */
  SELF,
  /** Root in a separate user namespace, where it is unprivileged; containers often forbid this. */
  USER_NAMESPACE,
  /** The user {@code nobody}, who must own the data directory. */
  NOBODY;

  static RunAs detect() {
    if (PostgresBinaries.isWindows() || !"root".equals(System.getProperty("user.name"))) {
      return SELF;
    }
    return runs("unshare", "-U", "true") ? USER_NAMESPACE : NOBODY;
  }

  /** Returns the command line that runs the command as this user. */
  List<String> wrap(List<String> command) {
    return switch (this) {
      case SELF -> command;
      case USER_NAMESPACE -> {
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
              command.stream().map(RunAs::quote).collect(Collectors.joining(" ")));
    };
  }

  /**
   * Changes the owner of the directory and its contents to this user, who also needs access to the
   * parent directory.
   */
  void chown(Path directory) throws IOException {
    if (PostgresBinaries.isWindows() || !"root".equals(System.getProperty("user.name"))) {
      return;
    }
    UserPrincipal owner =
        directory
            .getFileSystem()
            .getUserPrincipalLookupService()
            .lookupPrincipalByName(this == NOBODY ? "nobody" : "root");
    if (this == NOBODY) {
      grantTraversal(Objects.requireNonNullElse(directory.getParent(), directory));
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

  private static void grantTraversal(Path directory) throws IOException {
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
