package io.ordertimeout.it.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.LintResult;
import io.ordertimeout.it.docker.StrictYaml;
import io.ordertimeout.it.kubernetes.Chart.Objects;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** What the chart renders: its validity, its consistency and what it grants. */
class ChartTest {

  /** The service's own time-outs when it stops: decisions, publications and the consumer. */
  private static final long LONGEST_STOP_SECONDS = 50;

  /** Every flag, with what it requires. */
  private static final List<Map<String, Object>> FLAGS =
      List.of(
          Map.of("networkPolicy.enabled", true),
          Map.of("serviceMonitor.enabled", true),
          Map.of("prometheusRule.enabled", true),
          Map.of("dashboards.enabled", true),
          Map.of("ingress.enabled", true, "ingress.host", "orders.example.com"),
          Map.of("keda.enabled", true),
          Map.of("strimzi.topics.enabled", true, "strimzi.cluster", "shop"),
          Map.of("strimzi.user.enabled", true, "strimzi.cluster", "shop"),
          Map.of("podDisruptionBudget.enabled", false),
          Map.of("topologySpread", false),
          Map.of("kafka.tls.enabled", true, "kafka.tls.caSecret", "ca"),
          Map.of("kafka.tls.enabled", true, "kafka.tls.clientSecret", "user"),
          Map.of("kafka.sasl.existingSecret", "user"),
          Map.of("postgres.tls.caSecret", "ca"),
          Map.of("access.existingSecret", "users", "access.viewerPasswordKey", "viewer"),
          Map.of("secretConfig", "more"));

  static Stream<Objects> renderings() {
    Stream<Objects> examples =
        Stream.of("one-instance.yaml", "three-instances.yaml", "openshift.yaml", "trial.yaml")
            .map(Chart::example)
            .map(Chart::render);
    // Each flag alone, each with every other, and all together.
    List<Map<String, Object>> combinations = new ArrayList<>(List.of(Map.of()));
    Map<String, Object> together = new HashMap<>();
    for (Map<String, Object> flag : FLAGS) {
      together.putAll(flag);
      for (Map<String, Object> other : FLAGS) {
        Map<String, Object> both = new HashMap<>(flag);
        both.putAll(other);
        combinations.add(both);
      }
    }
    combinations.add(together);
    return Stream.concat(examples, combinations.stream().distinct().map(Chart::render));
  }

  @Test
  void helmFindsNothingToComplainAbout(@TempDir Path directory) {
    LintResult result = Chart.lint(directory);

    assertThat(result.isFailed()).isFalse();
    assertThat(result.getMessages())
        .allMatch(message -> message.equals("[INFO] Chart.yaml: icon is recommended"));
  }

  @Test
  void everyCombinationOfFlagsRendersValidAndConsistentObjects() {
    renderings()
        .forEach(
            objects -> {
              assertValid(objects);
              assertConsistent(objects.own());
              assertRestricted(objects.own());
            });
  }

  private static void assertValid(Objects objects) {
    assertThat(objects.all())
        .extracting(object -> Chart.kind(object) + "/" + Chart.name(object))
        .doesNotHaveDuplicates();
    for (JsonNode object : objects.own().all()) {
      assertThat(object.at("/metadata/labels/app.kubernetes.io~1name").asString())
          .isEqualTo("order-timeout");
    }
    for (JsonNode object : objects.all()) {
      if (Schemas.know(object)) {
        Schemas.validate(object);
      } else {
        assertThat(Chart.kind(object)).isIn("KafkaTopic", "KafkaUser", "ScaledObject");
      }
    }
  }

  /** What one object names exists in another. */
  private static void assertConsistent(Objects objects) {
    Map<String, String> podLabels = strings(objects.pod().at("/metadata/labels"));
    Set<String> ports =
        stream(objects.container().path("ports"))
            .map(port -> port.path("name").asString())
            .collect(Collectors.toSet());
    JsonNode set = objects.only("StatefulSet");
    assertThat(podLabels).containsAllEntriesOf(strings(set.at("/spec/selector/matchLabels")));
    for (JsonNode service : objects.of("Service")) {
      assertThat(podLabels).containsAllEntriesOf(strings(service.at("/spec/selector")));
      assertThat(service.at("/spec/ports"))
          .allMatch(port -> ports.contains(port.path("targetPort").asString()));
    }
    assertThat(objects.of("Service"))
        .extracting(Chart::name)
        .contains(set.at("/spec/serviceName").asString());
    for (String probe : List.of("startupProbe", "readinessProbe", "livenessProbe")) {
      assertThat(ports).contains(objects.container().path(probe).at("/httpGet/port").asString());
    }
    assertMountsConsistent(objects);
    for (JsonNode budget : objects.of("PodDisruptionBudget")) {
      assertThat(podLabels).containsAllEntriesOf(strings(budget.at("/spec/selector/matchLabels")));
    }
    for (JsonNode policy : objects.of("NetworkPolicy")) {
      assertThat(podLabels)
          .containsAllEntriesOf(strings(policy.at("/spec/podSelector/matchLabels")));
      assertThat(policy.at("/spec/ingress"))
          .allMatch(rule -> ports.contains(rule.at("/ports/0/port").asString()));
    }
    for (JsonNode monitor : objects.of("ServiceMonitor")) {
      Map<String, String> wanted = strings(monitor.at("/spec/selector/matchLabels"));
      assertThat(objects.of("Service"))
          .filteredOn(
              service ->
                  strings(service.at("/metadata/labels")).entrySet().containsAll(wanted.entrySet()))
          .singleElement()
          .satisfies(
              service -> {
                assertThat(service.at("/spec/ports/0/name"))
                    .isEqualTo(monitor.at("/spec/endpoints/0/port"));
                // The rules select by this job.
                String label = monitor.at("/spec/jobLabel").asString();
                assertThat(service.at("/metadata/labels").path(label).asString())
                    .isEqualTo("order-timeout");
              });
    }
    for (JsonNode ingress : objects.of("Ingress")) {
      JsonNode backend = ingress.at("/spec/rules/0/http/paths/0/backend/service");
      assertThat(objects.of("Service"))
          .filteredOn(service -> Chart.name(service).equals(backend.path("name").asString()))
          .singleElement()
          .satisfies(
              service ->
                  assertThat(service.at("/spec/ports/0/name")).isEqualTo(backend.at("/port/name")));
    }
    for (JsonNode scaled : objects.of("ScaledObject")) {
      assertThat(scaled.at("/spec/scaleTargetRef/name").asString()).isEqualTo(Chart.name(set));
      // Otherwise, an upgrade of the release would undo what KEDA has done.
      assertThat(set.at("/spec").has("replicas")).isFalse();
    }
  }

  private static void assertMountsConsistent(Objects objects) {
    Map<String, JsonNode> volumes =
        stream(objects.pod().at("/spec/volumes"))
            .collect(Collectors.toMap(v -> v.path("name").asString(), v -> v));
    Map<String, String> mounts =
        stream(objects.container().path("volumeMounts"))
            .collect(
                Collectors.toMap(
                    m -> m.path("mountPath").asString(), m -> m.path("name").asString()));
    assertThat(mounts.values()).doesNotHaveDuplicates();
    assertThat(Set.copyOf(mounts.values())).isEqualTo(volumes.keySet());
    for (JsonNode volume : volumes.values()) {
      if (volume.has("configMap")) {
        assertThat(objects.of("ConfigMap"))
            .extracting(Chart::name)
            .contains(volume.at("/configMap/name").asString());
      }
    }
    // Every path in the configuration is below a mount.
    for (String path : paths(objects.configuration().toString())) {
      assertThat(mounts.keySet()).as(path).anyMatch(path::startsWith);
    }
    Map<String, String> environment = environment(objects);
    assertThat(mounts)
        .containsKey(
            environment
                .getOrDefault("SPRING_CONFIG_ADDITIONALLOCATION", "")
                .replace("file:", "")
                .replaceAll("/$", ""));
  }

  private static List<String> paths(String configuration) {
    return Pattern.compile("/secrets/[^\"]+")
        .matcher(configuration)
        .results()
        .map(MatchResult::group)
        .toList();
  }

  /** What a cluster with the restricted policy requires, and more. */
  private static void assertRestricted(Objects objects) {
    JsonNode pod = objects.pod().path("spec");
    assertThat(pod.path("automountServiceAccountToken").asBoolean()).isFalse();
    assertThat(pod.at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
    assertThat(pod.at("/securityContext/seccompProfile/type").asString())
        .isEqualTo("RuntimeDefault");
    JsonNode container = objects.container();
    assertThat(container.at("/securityContext/allowPrivilegeEscalation").asBoolean(true)).isFalse();
    assertThat(container.at("/securityContext/readOnlyRootFilesystem").asBoolean()).isTrue();
    assertThat(container.at("/securityContext/capabilities/drop/0").asString()).isEqualTo("ALL");
    assertThat(container.at("/resources/limits/memory").asString()).isNotEmpty();
    assertThat(container.at("/livenessProbe/httpGet/path").asString()).endsWith("/liveness");
    assertThat(container.at("/readinessProbe/httpGet/path").asString()).endsWith("/readiness");
    // No secret is rendered, they are only named.
    assertThat(objects.of("Secret")).isEmpty();
    assertThat(environment(objects).keySet())
        .noneMatch(variable -> variable.contains("PASSWORD") || variable.contains("JAAS"));
    long stop = container.at("/lifecycle/preStop/exec/command/1").asLong(0) + LONGEST_STOP_SECONDS;
    assertThat(pod.path("terminationGracePeriodSeconds").asLong()).isGreaterThanOrEqualTo(stop);
  }

  @Test
  void aRestartedContainerKeepsItsNameInTheGroupAndAStoppedInstanceLeavesIt() {
    Objects objects = Chart.render(Map.of());

    JsonNode intake = objects.configuration().at("/order-timeout/intake");
    assertThat(intake.path("instance-id").asString()).isEqualTo("${POD_NAME}");
    assertThat(intake.path("leave-on-stop").asBoolean()).isTrue();
    assertThat(stream(objects.container().path("env")))
        .filteredOn(variable -> variable.path("name").asString().equals("POD_NAME"))
        .singleElement()
        .satisfies(
            variable ->
                assertThat(variable.at("/valueFrom/fieldRef/fieldPath").asString())
                    .isEqualTo("metadata.name"));
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

  @Test
  void aChangeOfTheConfigurationRestartsTheInstances() {
    String checksum = "/metadata/annotations/order-timeout.io~1config";
    String before = Chart.render(Map.of()).pod().at(checksum).asString();

    assertThat(Chart.render(Map.of("instances", 3)).pod().at(checksum).asString())
        .isEqualTo(before)
        .hasSize(64);
    assertThat(Chart.render(Map.of("postgres.username", "other")).pod().at(checksum).asString())
        .isNotEqualTo(before);
  }

  @Test
  void theConnectionToKafkaIsAsSecureAsItsSecretsAllow() {
    assertThat(kafka(Map.of()).isMissingNode()).isTrue();
    assertThat(kafka(Map.of("kafka.tls.enabled", true)).path("security.protocol").asString())
        .isEqualTo("SSL");
    assertThat(kafka(Map.of("kafka.sasl.existingSecret", "u")).path("security.protocol").asString())
        .isEqualTo("SASL_PLAINTEXT");
    JsonNode both = kafka(Map.of("kafka.tls.enabled", true, "kafka.sasl.existingSecret", "u"));
    assertThat(both.path("security.protocol").asString()).isEqualTo("SASL_SSL");
    assertThat(both.path("sasl.mechanism").asString()).isEqualTo("SCRAM-SHA-512");
  }

  private static JsonNode kafka(Map<String, Object> values) {
    return Chart.render(values).configuration().at("/spring/kafka/properties");
  }

  @Test
  void theServiceReadsItsSecretsFromTheEnvironment() {
    Objects objects =
        Chart.render(
            Map.of(
                "kafka.tls.enabled", true,
                "kafka.tls.clientSecret", "user",
                "kafka.sasl.existingSecret", "user",
                "access.existingSecret", "users",
                "access.viewerPasswordKey", "viewer"));
    Map<String, Object> environment = new HashMap<>();
    stream(objects.container().path("env"))
        .filter(variable -> variable.at("/valueFrom").has("secretKeyRef"))
        .forEach(
            variable ->
                environment.put(
                    variable.path("name").asString(),
                    variable.at("/valueFrom/secretKeyRef/key").asString()));
    Binder binder =
        new Binder(
            ConfigurationPropertySources.from(
                new SystemEnvironmentPropertySource("systemEnvironment", environment)));

    assertThat(binder.bind("spring.datasource.password", String.class).get()).isEqualTo("password");
    assertThat(binder.bind("order-timeout.access.operator-password", String.class).get())
        .isEqualTo("operator-password");
    assertThat(binder.bind("order-timeout.access.viewer-password", String.class).get())
        .isEqualTo("viewer");
    assertThat(
            binder
                .bind("spring.kafka.properties", Bindable.mapOf(String.class, String.class))
                .get())
        .containsOnly(
            Map.entry("sasl.jaas.config", "sasl.jaas.config"),
            Map.entry("ssl.keystore.password", "user.password"));
    assertThat(environment).hasSize(5);
  }

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
          new Yaml().load(Files.readString(Chart.DIRECTORY.resolve("../prometheus/rules/" + file)));
      JsonMapper.shared().<JsonNode>valueToTree(content).path("groups").forEach(groups::add);
    }
    JsonNode rendered = objects.only("PrometheusRule").at("/spec/groups");
    List<String> runbooks = new ArrayList<>();
    for (JsonNode group : rendered) {
      for (JsonNode rule : group.path("rules")) {
        if (rule.has("alert")) {
          ObjectNode annotations = (ObjectNode) rule.path("annotations");
          runbooks.add(annotations.remove("runbook_url").asString());
        }
      }
    }
    assertThat(stream(rendered)).containsExactlyElementsOf(groups);
    assertThat(runbooks)
        .isNotEmpty()
        .allSatisfy(
            url -> {
              assertThat(url).startsWith("https://wiki/runbooks/");
              assertThat(
                      Chart.DIRECTORY.resolve(
                          "../runbooks/" + url.substring(url.lastIndexOf('/') + 1)))
                  .exists();
            });
    try (Stream<Path> dashboards = Files.list(Chart.DIRECTORY.resolve("../grafana/dashboards"))) {
      assertThat(
              objects.of("ConfigMap").stream()
                  .filter(map -> map.at("/metadata/labels").has("grafana_dashboard"))
                  .map(
                      map ->
                          JsonMapper.shared()
                              .readTree(map.path("data").iterator().next().asString())))
          .containsExactlyInAnyOrderElementsOf(
              dashboards.map(file -> JsonMapper.shared().readTree(file.toFile())).toList());
    }
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

  @ParameterizedTest
  @ValueSource(strings = {"/spec/podManagmentPolicy", "/spec/template/spec/containers/0/imag"})
  void aMisspeltFieldWouldBeNoticed(String pointer) {
    ObjectNode set = (ObjectNode) Chart.render(Map.of()).only("StatefulSet").deepCopy();
    int last = pointer.lastIndexOf('/');
    ((ObjectNode) set.at(pointer.substring(0, last))).put(pointer.substring(last + 1), "x");

    assertThatThrownBy(() -> Schemas.validate(set))
        .hasMessageContaining(pointer.substring(last + 1));
  }

  @Test
  void aMisspeltFieldOfAMonitorWouldBeNoticed() {
    ObjectNode monitor =
        (ObjectNode)
            Chart.render(Map.of("serviceMonitor.enabled", true)).only("ServiceMonitor").deepCopy();
    ((ObjectNode) monitor.at("/spec/endpoints/0")).put("paht", "/");

    assertThatThrownBy(() -> Schemas.validate(monitor)).hasMessageContaining("paht");
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
      Map<String, String> environment = environment(container);
      for (String name : service.path("environment").propertyNames()) {
        if (!name.contains("LISTENER") && !name.contains("VOTERS") && !name.contains("PASSWORD")) {
          assertThat(environment)
              .as(name)
              .containsEntry(name, service.at("/environment/" + name).asString());
        }
      }
    }
    JsonNode spring = objects.configuration().path("spring");
    assertThat(spring.at("/kafka/bootstrap-servers").asString())
        .isEqualTo(address(objects, "trial-kafka"));
    assertThat(environment(container(objects, "trial-kafka")))
        .containsEntry(
            "KAFKA_ADVERTISED_LISTENERS", "CLIENTS://" + address(objects, "trial-kafka"));
    assertThat(spring.at("/datasource/url").asString())
        .isEqualTo(
            "jdbc:postgresql://%s/%s",
            address(objects, "trial-postgres"),
            environment(container(objects, "trial-postgres")).get("POSTGRES_DB"));
    Set<String> keys =
        stream(objects.own().container().path("env"))
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

  private static Map<String, String> environment(Objects objects) {
    return environment(objects.container());
  }

  private static Map<String, String> environment(JsonNode container) {
    return stream(container.path("env"))
        .filter(variable -> variable.has("value"))
        .collect(
            Collectors.toMap(
                variable -> variable.path("name").asString(),
                variable -> variable.path("value").asString()));
  }

  private static Map<String, String> strings(JsonNode node) {
    Map<String, String> strings = new HashMap<>();
    for (String name : new TreeSet<>(node.propertyNames())) {
      strings.put(name, node.path(name).asString());
    }
    assertThat(strings).isNotEmpty();
    return strings;
  }

  private static Stream<JsonNode> stream(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false);
  }
}
