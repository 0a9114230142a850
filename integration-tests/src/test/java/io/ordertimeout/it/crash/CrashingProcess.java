package io.ordertimeout.it.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.ChildProcess;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceLauncher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The service as a child process that ends itself at a {@link CrashPoint}. */
final class CrashingProcess {

  private static final Duration LIFETIME = Duration.ofMinutes(5);

  private CrashingProcess() {}

  /**
   * Starts the service and returns when it has ended at the crash point.
   *
   * @param meanwhile called repeatedly until then
   * @throws AssertionError if the process ended elsewhere or not at all
   */
  static void run(Scenario scenario, CrashPoint point, Runnable meanwhile, String... settings) {
    ChildProcess process = start(scenario, point, settings);
    try {
      await("crash at " + point)
          .atMost(LIFETIME)
          .until(
              () -> {
                meanwhile.run();
                return !process.isAlive();
              });
      assertThat(process.exitCode())
          .as("exit code at %s; see the log %s.log", point, scenario.name())
          .isEqualTo(CrashingService.EXIT_CODE);
    } finally {
      process.kill();
    }
  }

  private static ChildProcess start(Scenario scenario, CrashPoint point, String... settings) {
    List<String> jvmOptions = List.of("-Xmx256m", "-D" + CrashingService.POINT + "=" + point);
    List<String> command = new ArrayList<>(ServiceLauncher.test(jvmOptions, CrashingService.class));
    scenario.settings(settings).forEach((name, value) -> command.add("--" + name + "=" + value));
    return ChildProcess.start(scenario.name(), command);
  }
}
