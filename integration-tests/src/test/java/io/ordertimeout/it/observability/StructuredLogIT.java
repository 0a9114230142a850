package io.ordertimeout.it.observability;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.ChildProcess;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** The log as one JSON object a line, by a property of Spring Boot. */
class StructuredLogIT {

  @Test
  void eachLineIsAnObjectOfTheService() throws IOException {
    try (Scenario scenario = Scenario.create()) {
      try (ServiceProcess service =
          scenario.startProcess("logging.structured.format.console", "ecs")) {
        service.awaitReady();
        scenario.create("in-no-log-4711", 0, Scenario.in(Duration.ofSeconds(1)));
        scenario.outcomes().awaitCancelled("in-no-log-4711");
      }

      List<String> lines = Files.readAllLines(ChildProcess.log(scenario.name()));
      assertThat(lines).hasSizeGreaterThan(5);
      assertThat(lines.stream().map(JsonMapper.shared()::readTree))
          .allSatisfy(
              line -> {
                assertThat(Instant.parse(line.path("@timestamp").asString())).isNotNull();
                assertThat(line.at("/service/name").asString()).isEqualTo("order-timeout");
                assertThat(line.path("message").asString()).isNotEmpty();
                assertThat(line.findValue("trace")).isNull();
              });
      assertThat(lines).noneMatch(line -> line.contains("in-no-log"));
    }
  }
}
