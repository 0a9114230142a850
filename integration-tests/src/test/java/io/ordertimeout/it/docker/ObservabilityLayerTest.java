package io.ordertimeout.it.docker;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.StrictYaml;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Checks that the files mounted by Compose are where Prometheus and Grafana look for them. */
class ObservabilityLayerTest {

  private static final Path PROMETHEUS = ProjectFiles.TOP.resolve("deploy/prometheus");
  private static final Path GRAFANA = ProjectFiles.TOP.resolve("deploy/grafana");

  private final ComposeFile compose = ProjectFiles.compose();
  private final ComposeFile observability = ProjectFiles.observability();

  @Test
  void prometheusScrapesTheManagementPortOfTheService() {
    JsonNode settings = StrictYaml.read(PROMETHEUS.resolve("prometheus.yml"));

    assertThat(texts(settings, "names")).containsExactly("order-service");
    assertThat(texts(settings, "port")).containsExactly("8081");
    assertThat(compose.services()).containsKey("order-service");
    assertThat(ProjectFiles.dockerfile().last("order-service", "EXPOSE").words()).contains("8081");
  }

  @Test
  void prometheusFindsItsRules() {
    JsonNode settings = StrictYaml.read(PROMETHEUS.resolve("prometheus.yml"));

    assertThat(texts(settings, "rule_files")).containsExactly("rules/*.yml");
    assertThat(observability.service("prometheus").volumes())
        .contains(
            "../prometheus/prometheus.yml:/etc/prometheus/prometheus.yml:ro",
            "../prometheus/rules:/etc/prometheus/rules:ro");
    assertThat(observability.service("prometheus").command())
        .contains("--config.file=/etc/prometheus/prometheus.yml");
  }

  @Test
  void grafanaQueriesPrometheus() throws IOException {
    assertThat(textsOfAll(GRAFANA.resolve("provisioning/datasources"), "url"))
        .isNotEmpty()
        .containsOnly("http://prometheus:9090");
    assertThat(observability.service("prometheus").ports()).containsExactly("127.0.0.1:9090:9090");
  }

  @Test
  void grafanaFindsItsDashboards() throws IOException {
    assertThat(textsOfAll(GRAFANA.resolve("provisioning/dashboards"), "path"))
        .singleElement()
        .satisfies(
            path ->
                assertThat(observability.service("grafana").volumes())
                    .contains(
                        "../grafana/dashboards:" + path + ":ro",
                        "../grafana/provisioning:/etc/grafana/provisioning:ro"));
    try (Stream<Path> dashboards = Files.list(GRAFANA.resolve("dashboards"))) {
      assertThat(dashboards).isNotEmpty();
    }
  }

  /** Returns the values of a key at any depth in the files of a directory. */
  private static List<String> textsOfAll(Path directory, String key) throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        found.addAll(texts(StrictYaml.read(file), key));
      }
    }
    return found;
  }

  private static List<String> texts(JsonNode node, String key) {
    return node.findValues(key).stream()
        .flatMap(value -> value.isArray() ? value.valueStream() : Stream.of(value))
        .map(JsonNode::asString)
        .toList();
  }
}
