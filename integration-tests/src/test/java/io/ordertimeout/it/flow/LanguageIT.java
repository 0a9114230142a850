package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.ChildProcess;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LanguageIT {

  /** Turkish has other capitals than English, and Arabic other digits. */
  @Test
  void theLanguageOfTheMachineDoesNotMatter() throws IOException {
    try (Scenario scenario = Scenario.create();
        ServiceProcess service =
            ServiceProcess.start(
                scenario.name(),
                List.of("-Xmx256m", "-Duser.language=tr", "-Duser.extensions=u-nu-arab"),
                scenario.settings())) {
      service.awaitReady();
      scenario.shop().created("o", Map.of("timeout", "PT0.1S"));
      scenario.outcomes().awaitCancelled("o");

      assertThat(Files.readString(ChildProcess.log(scenario.name())))
          .containsPattern("Successfully validated [0-9]+ migrations")
          .doesNotContainPattern("[٠-٩]");
    }
  }
}
