package io.ordertimeout.it.observability;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.observability.Tool.Result;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The deployed files and the service's metrics, checked by promtool. */
@Tag("prometheus")
@Order(25)
class PromtoolIT {

  private static final String OWN = "order_timeout_";

  /** Exit code of {@code check metrics} if it has found problems that are not errors. */
  private static final int PROBLEMS_FOUND = 3;

  @Test
  void theConfigurationIsValidAndLoadsTheRules() {
    Result result = promtool("config", List.of(DeployedFiles.PROMETHEUS.resolve("prometheus.yml")));

    assertThat(result.exitCode()).as(result.output()).isZero();
    assertThat(result.output()).contains("2 rule files found");
  }

  @Test
  void theRulesAreValid() {
    Result result = promtool("rules", files("rules"));

    assertThat(result.exitCode()).as(result.output()).isZero();
    assertThat(result.output()).contains("rules found");
  }

  @Test
  void theUnitTestsOfTheAlertsPass() {
    String[] arguments =
        Stream.concat(Stream.of("test", "rules"), files("tests").stream().map(Path::toString))
            .toArray(String[]::new);

    Result result = Tool.PROMTOOL.run("", arguments);

    assertThat(result.exitCode()).as(result.output()).isZero();
    assertThat(result.output()).contains("SUCCESS");
  }

  @Test
  void theServicesMetricsFollowTheNamingConventions() throws IOException {
    String exposition;
    try (Scenario scenario = Scenario.create();
        ServiceProcess service = scenario.startProcess()) {
      service.awaitReady();
      exposition = service.exposition();
    }

    assertThat(exposition.lines().filter(line -> line.startsWith("# HELP " + OWN)))
        .hasSizeGreaterThan(15);
    assertThat(problemsOfOwnMetrics(exposition)).isEmpty();
  }

  @Test
  void aMetricThatBreaksTheConventionsIsReported() {
    assertThat(
            problemsOfOwnMetrics(
                """
                # TYPE order_timeout_wait_ms gauge
                order_timeout_wait_ms 1
                # HELP kafka_wait_ms theirs
                # TYPE kafka_wait_ms gauge
                kafka_wait_ms 1
                """))
        .hasSize(2)
        .allMatch(line -> line.startsWith("order_timeout_wait_ms "));
  }

  /**
   * Returns the problems, except those of metrics that come from libraries (Micrometer's binders of
   * the JVM, of Tomcat and of Kafka's clients), whose names the service cannot choose.
   */
  private static List<String> problemsOfOwnMetrics(String exposition) {
    Result result = Tool.PROMTOOL.run(exposition, "check", "metrics");
    assertThat(result.exitCode()).as(result.output()).isIn(0, PROBLEMS_FOUND);
    return result.output().lines().filter(line -> line.startsWith(OWN)).toList();
  }

  private static List<Path> files(String folder) {
    return DeployedFiles.list(DeployedFiles.PROMETHEUS.resolve(folder), ".yml");
  }

  private static Result promtool(String check, List<Path> files) {
    return Tool.PROMTOOL.run(
        "",
        Stream.concat(Stream.of("check", check), files.stream().map(Path::toString))
            .toArray(String[]::new));
  }
}
