package io.ordertimeout.it.observability;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.observability.Tool.Result;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The checks of Prometheus's own tool. */
@Tag("prometheus")
class PromtoolIT {

  private static final String OWN = "order_timeout_";

  /** The exit code of {@code check metrics} with findings that are not errors. */
  private static final int COMPLAINTS = 3;

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
  void theServicesOwnMetricsFollowTheNamingConventions() throws IOException {
    String exposition;
    try (Scenario scenario = Scenario.create();
        ServiceProcess service = scenario.startProcess()) {
      service.awaitReady();
      exposition = service.exposition();
    }

    assertThat(exposition.lines().filter(line -> line.startsWith("# HELP " + OWN)))
        .hasSizeGreaterThan(15);
    assertThat(complaintsOfOwnMetrics(exposition)).isEmpty();
  }

  @Test
  void aMetricAgainstTheNamingConventionsIsFound() {
    assertThat(
            complaintsOfOwnMetrics(
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
   * The findings, except those about metrics of libraries (Micrometer's binders of the JVM, Tomcat
   * and Kafka's clients), whose names the service cannot choose.
   */
  private static List<String> complaintsOfOwnMetrics(String exposition) {
    Result result = Tool.PROMTOOL.run(exposition, "check", "metrics");
    assertThat(result.exitCode()).as(result.output()).isIn(0, COMPLAINTS);
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
