package io.ordertimeout.it.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.LintResult;
import io.ordertimeout.it.kubernetes.Chart.Objects;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The values of the chart: documented, and refused by name where they cannot work. */
class ChartValuesTest {

  @Test
  void helmFindsNothingToComplainAbout(@TempDir Path directory) {
    LintResult result = Chart.lint(directory);

    assertThat(result.isFailed()).isFalse();
    assertThat(result.getMessages())
        .allMatch(message -> message.equals("[INFO] Chart.yaml: icon is recommended"));
  }

  @Test
  void theUsersConfigurationTakesPrecedence() {
    Objects objects =
        Chart.render(
            """
            config:
              order-timeout:
                deadline: {default-timeout: 30m}
                intake: {leave-on-stop: false}
            """);

    JsonNode service = objects.configuration().path("order-timeout");
    assertThat(service.at("/deadline/default-timeout").asString()).isEqualTo("30m");
    assertThat(service.at("/intake/leave-on-stop").asBoolean(true)).isFalse();
    assertThat(service.at("/intake/instance-id").asString()).isEqualTo("${POD_NAME}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "instances | 0 | instances",
        "instances | two | instances",
        "image.pullPolicy | Sometimes | pullPolicy",
        "image.digest | abc | digest",
        "kafka.bootstrapServers | kafka | bootstrapServers",
        "postgres.url | postgres:5432 | url",
        "postgres.existingSecret | My_Secret | existingSecret",
        "preStopSeconds | 31 | preStopSeconds",
        "serviceMonitor.interval | often | interval",
        "ingress.path | orders | path",
        "ingress.path | /orders/ | path",
        "ingress.path | /orders(.*) | path",
        "strimzi.user.authentication | password | authentication",
        "keda.lagThreshold | 0 | lagThreshold",
        "resources.limits.memory | much | memory",
        "replicas | 3 | replicas",
        "kafka.bootstrap | kafka:9092 | bootstrap"
      })
  void aWrongOrUnknownValueIsRefusedByItsName(String path, String value, String named) {
    Object typed = value.matches("\\d+") ? Integer.valueOf(value) : value;
    assertThatThrownBy(() -> Chart.render(Map.of(path, typed)))
        .hasMessageContaining("values don't meet the specifications of the schema")
        .hasMessageContaining(named);
  }

  @Test
  void whatCannotWorkIsRefusedWithTheValueThatHasToChange() {
    assertRefused(Map.of("postgres.existingSecret", ""), "postgres.existingSecret is required");
    assertRefused(Map.of("postgres.url", ""), "postgres.url is required");
    assertRefused(Map.of("kafka.bootstrapServers", ""), "kafka.bootstrapServers is required");
    assertRefused(
        Map.of("keda.enabled", true, "instances", 7),
        "keda.maxInstances is 6, but must be at least instances (7)");
    assertRefused(
        Map.of(
            "keda.enabled",
            true,
            "keda.maxInstances",
            9,
            "strimzi.topics.enabled",
            true,
            "strimzi.cluster",
            "shop"),
        "keda.maxInstances is 9, but more than strimzi.topics.partitions (6)");
    assertRefused(Map.of("ingress.enabled", true), "ingress.host is required");
    assertRefused(Map.of("strimzi.user.enabled", true), "strimzi.cluster is required");
    assertRefused(Map.of("kafka.tls.caSecret", "ca"), "kafka.tls.enabled must be true");
  }

  private static void assertRefused(Map<String, Object> values, String message) {
    assertThatThrownBy(() -> Chart.render(values)).hasMessageContaining(message);
  }

  @Test
  void furtherObjectsAreRenderedAsTemplates() {
    Objects objects =
        Chart.render(
            """
            extraObjects:
              - apiVersion: v1
                kind: Secret
                metadata: {name: "{{ .Release.Name }}-extra"}
            """);

    assertThat(Chart.name(objects.only("Secret"))).isEqualTo("order-timeout-extra");
  }

  @Test
  void theReadmeListsAllValues() throws IOException {
    List<String> table = ValuesTable.rows(Chart.DIRECTORY.resolve("values.yaml"));

    assertThat(Files.readAllLines(Chart.DIRECTORY.resolve("README.md")).stream())
        .filteredOn(line -> line.startsWith("| `"))
        .as("The table of values, which should be:%n%s", String.join("\n", table))
        .containsExactlyElementsOf(table);
  }
}
