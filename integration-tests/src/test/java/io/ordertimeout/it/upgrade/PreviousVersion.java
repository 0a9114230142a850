package io.ordertimeout.it.upgrade;

import io.ordertimeout.it.support.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import org.springframework.util.FileSystemUtils;

/**
 * The jar of an earlier version of the service, built from its commit once and kept for later runs
 * of the same user.
 */
final class PreviousVersion {

  /** System property: the commit, or any other name that Git knows it by. */
  private static final String COMMIT = "upgrade.from";

  private static final String LOG = "previous-version";
  private static final Duration PATIENCE = Duration.ofMinutes(8);
  private static final Path REPOSITORY = Path.of("..").toAbsolutePath().normalize();

  private PreviousVersion() {}

  /** Returns the runnable jar; builds it unless that has been done. */
  static Path jar() {
    try {
      String commit = commit();
      Path versions =
          Path.of(System.getProperty("java.io.tmpdir"))
              .resolve("order-timeout-versions-" + System.getProperty("user.name"));
      Path jar = versions.resolve("order-service-" + commit + ".jar");
      if (!Files.exists(jar)) {
        Files.createDirectories(versions);
        build(commit, versions, jar);
      }
      return jar;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String commit() throws IOException {
    String wanted = System.getProperty(COMMIT, "");
    Process git =
        new ProcessBuilder("git", "rev-parse", "--verify", "--quiet", wanted + "^{commit}")
            .directory(REPOSITORY.toFile())
            .start();
    String commit = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    if (commit.isEmpty()) {
      throw new IllegalStateException(
          "The repository has no commit '%s', from which the previous version is built. A shallow clone"
                  .formatted(wanted)
              + " lacks it: run git fetch --unshallow, or choose another one with -D"
              + COMMIT);
    }
    return commit;
  }

  private static void build(String commit, Path versions, Path jar) throws IOException {
    Path sources = Files.createTempDirectory("order-timeout-" + commit);
    try {
      Path archive = sources.resolve("sources.tar");
      run(REPOSITORY, List.of("git", "archive", "--format=tar", "--output=" + archive, commit));
      run(sources, List.of("tar", "-xf", archive.toString()));
      run(
          sources,
          List.of(
              "./mvnw",
              "--batch-mode",
              "--no-transfer-progress",
              "-T",
              "1",
              "-pl",
              "order-service",
              "-am",
              "package",
              "-Dmaven.test.skip=true",
              "-Dspotless.check.skip=true",
              "-Djacoco.skip=true",
              "-Denforcer.skip=true",
              "-Dmdep.analyze.skip=true"));
      // Another build of the same commit may end at the same time.
      Path complete = Files.createTempFile(versions, "order-service", ".jar");
      Files.copy(
          sources.resolve("order-service/target/order-service.jar"),
          complete,
          StandardCopyOption.REPLACE_EXISTING);
      Files.move(complete, jar, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      FileSystemUtils.deleteRecursively(sources);
    }
  }

  private static void run(Path directory, List<String> command) {
    ChildProcess process =
        ChildProcess.start(LOG, new ProcessBuilder(command).directory(directory.toFile()));
    if (!process.awaitEnd(PATIENCE) || process.exitCode() != 0) {
      process.kill();
      throw new IllegalStateException(
          "%s failed; see %s".formatted(command, ChildProcess.log(LOG).toAbsolutePath()));
    }
  }
}
