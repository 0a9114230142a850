package io.ordertimeout.it.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.kubernetes.Chart.Objects;
import io.ordertimeout.it.support.StrictYaml;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the chart shares with other deployments: rules, dashboards, and the servers of a trial. */
class ChartFilesTest {

  private static final String RUNBOOKS_URL =
      StrictYaml.read(Chart.DIRECTORY.resolve("values.yaml"))
          .at("/prometheusRule/runbookBaseUrl")
          .asString();

  @Test
  void theRulesAndDashboardsAreThoseOfTheProject() throws IOException {
    Objects objects =
        Chart.render(
            Map.of(
                "prometheusRule.enabled",
                true,
                "prometheusRule.runbookBaseUrl",
                "https://wiki/runbooks/",
                "dashboards.enabled",
                true));

    List<JsonNode> groups = new ArrayList<>();
    for (String file : List.of("recording.yml", "alerts.yml")) {
      Object content =
          new Yaml().load(withRunbooks(Chart.DIRECTORY.resolve("../prometheus/rules/" + file)));
      JsonMapper.shared().<JsonNode>valueToTree(content).path("groups").forEach(groups::add);
    }
    assertThat(Chart.stream(objects.only("PrometheusRule").at("/spec/groups")))
        .containsExactlyElementsOf(groups);
    List<JsonNode> expected = new ArrayList<>();
    for (Path file : dashboards()) {
      assertThat(Files.readString(file)).contains(RUNBOOKS_URL);
      expected.add(JsonMapper.shared().readTree(withRunbooks(file)));
    }
    assertThat(
            objects.of("ConfigMap").stream()
                .filter(map -> map.at("/metadata/labels").has("grafana_dashboard"))
                .map(
                    map ->
                        JsonMapper.shared()
                            .readTree(map.path("data").iterator().next().asString())))
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  private static List<Path> dashboards() throws IOException {
    try (Stream<Path> files = Files.list(Chart.DIRECTORY.resolve("../grafana/dashboards"))) {
      return files.toList();
    }
  }

  /** Returns the file with links to the runbooks of the test. */
  private static String withRunbooks(Path file) throws IOException {
    return Files.readString(file).replace(RUNBOOKS_URL, "https://wiki/runbooks/");
  }

  /** The servers of the trial have the settings of those in the Compose file. */
  @Test
  void theTrialBringsWhatTheServiceConnectsTo() {
    Objects objects = Chart.render(Chart.example("trial.yaml"));
    JsonNode compose = StrictYaml.read(Chart.DIRECTORY.resolve("../docker/compose.yaml"));

    for (String server : List.of("postgres", "kafka")) {
      JsonNode container = container(objects, "trial-" + server);
      JsonNode service = compose.at("/services/" + server);
      assertThat(container.path("image")).isEqualTo(service.path("image"));
      Map<String, String> environment = Chart.environment(container);
      for (String name : service.path("environment").propertyNames()) {
        if (!name.contains("LISTENER") && !name.contains("VOTERS") && !name.contains("PASSWORD")) {
          assertThat(environment)
              .as(name)
              .containsEntry(name, service.at("/environment/" + name).asString());
        }
      }
    }
    Map<String, String> properties = objects.properties();
    assertThat(properties.get("spring.kafka.bootstrap-servers"))
        .isEqualTo(address(objects, "trial-kafka"));
    assertThat(Chart.environment(container(objects, "trial-kafka")))
        .containsEntry(
            "KAFKA_ADVERTISED_LISTENERS", "CLIENTS://" + address(objects, "trial-kafka"));
    assertThat(properties.get("spring.datasource.url"))
        .isEqualTo(
            "jdbc:postgresql://%s/%s",
            address(objects, "trial-postgres"),
            Chart.environment(container(objects, "trial-postgres")).get("POSTGRES_DB"));
    Set<String> keys =
        Chart.stream(objects.own().container().path("env"))
            .map(variable -> variable.at("/valueFrom/secretKeyRef"))
            .filter(JsonNode::isObject)
            .map(key -> key.path("name").asString() + "/" + key.path("key").asString())
            .collect(Collectors.toSet());
    JsonNode secret = objects.only("Secret");
    assertThat(keys).containsExactly(Chart.name(secret) + "/password");
    assertThat(secret.path("stringData").propertyNames()).containsExactly("password");
  }

  private static JsonNode container(Objects objects, String set) {
    return objects.of("StatefulSet").stream()
        .filter(object -> Chart.name(object).equals(set))
        .findFirst()
        .orElseThrow()
        .at("/spec/template/spec/containers/0");
  }

  private static String address(Objects objects, String service) {
    return objects.of("Service").stream()
        .filter(object -> Chart.name(object).equals(service))
        .map(object -> service + ":" + object.at("/spec/ports/0/port").asInt())
        .findFirst()
        .orElseThrow();
  }
}
