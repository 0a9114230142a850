package io.ordertimeout.it.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.ChildProcess;
import io.ordertimeout.it.support.Scenario;
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
  static void run(Scenario scenario, CrashPoint point, Runnable meanwhile, String... settings) {
    ChildProcess process = start(scenario, point, settings);
    try {
      await("death at " + point)
          .atMost(LIFETIME)
          .until(
              () -> {
                meanwhile.run();
                return !process.isAlive();
              });
      assertThat(process.exitCode())
          .as("exit code at %s; it logged to %s.log", point, scenario.name())
          .isEqualTo(CrashingService.EXIT_CODE);
    } finally {
      process.kill();
    }
  }

  private static ChildProcess start(Scenario scenario, CrashPoint point, String... settings) {
    List<String> command = new ArrayList<>();
    command.add(ChildProcess.JAVA);
    command.add("-Xmx256m");
    // It lives for seconds: better started soon than fast later.
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-D" + CrashingService.POINT + "=" + point);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(CrashingService.class.getName());
    scenario.settings(settings).forEach((name, value) -> command.add("--" + name + "=" + value));
    return ChildProcess.start(scenario.name(), command);
  }
}
