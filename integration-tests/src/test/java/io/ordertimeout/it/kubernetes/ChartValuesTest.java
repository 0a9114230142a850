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
import org.junit.jupiter.params.provider.ValueSource;

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

    assertThat(objects.properties())
        .containsEntry("order-timeout.deadline.default-timeout", "30m")
        .containsEntry("order-timeout.intake.leave-on-stop", "false")
        .containsEntry("order-timeout.intake.instance-id", "${POD_NAME}");
  }

  /** The same in every style that Spring accepts. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        """
        config:
          order-timeout:
            topics: {created: orders, paid: orders, closed: orders, expiring: warnings}
            intake: {group-id: deadlines, leave-on-stop: false}
          spring: {kafka: {client-id: shop}}
        """,
        """
        config:
          order-timeout.topics.created: orders
          order-timeout.topics: {paid: orders, expiring: warnings}
          order-timeout:
            topics.closed: orders
            intake.group-id: deadlines
          order-timeout.intake.leave-on-stop: false
          spring.kafka.client-id: shop
        """
      })
  void theStyleInWhichAPropertyIsWrittenDoesNotMatter(String config) {
    Objects objects =
        Chart.render(
            config
                + """
                strimzi:
                  cluster: shop
                  topics: {enabled: true}
                  user: {enabled: true}
                """);

    assertThat(objects.properties())
        .containsEntry("order-timeout.intake.leave-on-stop", "false")
        .containsEntry("order-timeout.topics.closed", "orders")
        .containsEntry("spring.kafka.client-id", "shop")
        .containsEntry("spring.kafka.bootstrap-servers", "kafka:9092");
    assertThat(objects.of("KafkaTopic"))
        .extracting(topic -> topic.at("/spec/topicName").asString())
        .containsExactlyInAnyOrder(
            "orders", "orders.dlt", "order-cancelled", "order-payment-conflict", "warnings");
    assertThat(
            Chart.stream(objects.only("KafkaUser").at("/spec/authorization/acls"))
                .map(acl -> acl.at("/resource/name").asString()))
        .containsExactlyInAnyOrder(
            "orders",
            "orders.dlt",
            "order-cancelled",
            "order-payment-conflict",
            "warnings",
            "deadlines");
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
        "kafka.bootstrapServers | fd00::1:9092 | bootstrapServers",
        "kafka.bootstrapServers | [fd00::1] | bootstrapServers",
        "postgres.url | postgres:5432 | url",
        "postgres.url | jdbc:mysql://mysql/orders | url",
        "fullnameOverride | My Service | fullnameOverride",
        "strimzi.apiVersion | v2 | apiVersion",
        "keda.prometheusUrl | prometheus:9090 | prometheusUrl",
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
    assertRefused(
        Map.of("postgres.withoutPassword", true), "postgres.withoutPassword exclude each other");
    assertRefused(Map.of("keda.enabled", true), "keda.prometheusUrl is required");
    assertRefused(Map.of("httpRoute.enabled", true), "httpRoute.parentRefs is required");
    assertRefused(
        Map.of(
            "httpRoute.enabled", true,
            "httpRoute.parentRefs[0].name", "gateway",
            "ingress.enabled", true,
            "ingress.host", "example.com",
            "ingress.path", "/orders"),
        "httpRoute.path is /, but must be that of ingress.path (/orders)");
    assertRefused(Map.of("postgres.url", ""), "postgres.url is required");
    assertRefused(Map.of("kafka.bootstrapServers", ""), "kafka.bootstrapServers is required");
    assertRefused(
        Map.of(
            "keda.enabled", true, "keda.prometheusUrl", "http://prometheus:9090", "instances", 7),
        "keda.maxInstances is 6, but must be at least instances (7)");
    assertRefused(
        Map.of(
            "keda.enabled",
            true,
            "keda.prometheusUrl",
            "http://prometheus:9090",
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

  @Test
  void addressesAndLogInsOfCommonPlatformsAreAccepted() {
    Objects objects =
        Chart.render(
            """
            kafka: {bootstrapServers: "[fd00::1]:9092,[fd00::2]:9092"}
            postgres:
              url: jdbc:aws-wrapper:postgresql://shop.rds.amazonaws.com/orders
              existingSecret: ""
              withoutPassword: true
            """,
            Map.of());

    assertThat(objects.properties())
        .containsEntry("spring.kafka.bootstrap-servers", "[fd00::1]:9092,[fd00::2]:9092")
        .containsEntry(
            "spring.datasource.url", "jdbc:aws-wrapper:postgresql://shop.rds.amazonaws.com/orders");
    assertThat(
            Chart.stream(objects.container().path("env"))
                .map(variable -> variable.path("name").asString()))
        .doesNotContain("SPRING_DATASOURCE_PASSWORD");
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
