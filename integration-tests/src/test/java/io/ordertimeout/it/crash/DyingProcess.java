package io.ordertimeout.it.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.rig.Stage;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The service as a process of its own that lives until its {@link CrashPoint}. */
final class DyingProcess {

  private static final Duration LIFETIME = Duration.ofMinutes(3);

  private DyingProcess() {}

  /**
   * Starts the service on the stage and returns when it has died at the point.
   *
   * @param meanwhile what to do again and again until then
   * @throws AssertionError if it died otherwise or not at all
   */
  static void run(Stage stage, CrashPoint point, Runnable meanwhile, String... settings) {
    Process process = start(stage, point, settings);
    try {
      await("death at " + point)
          .atMost(LIFETIME)
          .until(
              () -> {
                meanwhile.run();
                return !process.isAlive();
              });
      assertThat(process.exitValue())
          .as("exit code at %s; it logged to %s", point, log(stage))
          .isEqualTo(CrashingService.EXIT_CODE);
    } finally {
      process.destroyForcibly();
    }
  }

  private static Process start(Stage stage, CrashPoint point, String... settings) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx256m");
    // It lives for seconds: better started soon than fast later.
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-D" + CrashingService.POINT + "=" + point);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(CrashingService.class.getName());
    stage.settings(settings).forEach((name, value) -> command.add("--" + name + "=" + value));
    try {
      return new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.appendTo(log(stage)))
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static File log(Stage stage) {
    try {
      return Files.createDirectories(Path.of(System.getProperty("service.logs")))
          .resolve(stage.name() + ".log")
          .toFile();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
