package io.ordertimeout.it.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ordertimeout.it.kubernetes.Chart.Objects;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The objects that the chart renders: valid, consistent, and without privileges. */
class ChartObjectsTest {

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
          Map.of("ingress.enabled", true, "ingress.host", "example.com", "ingress.path", "/orders"),
          Map.of(
              "ingress.enabled", true,
              "ingress.host", "example.com",
              "ingress.extraHosts[0]", "example.org",
              "ingress.tlsSecret", "certificate"),
          Map.of(
              "httpRoute.enabled", true,
              "httpRoute.parentRefs[0].name", "gateway",
              "httpRoute.path", "/orders",
              "ingress.path", "/orders"),
          Map.of("serviceAccount.create", true, "serviceAccount.annotations.role", "orders"),
          Map.of("fullnameOverride", "deadlines"),
          Map.of(
              "extraEnvFrom[0].secretRef.name", "more",
              "initContainers[0].name", "drivers",
              "initContainers[0].image", "drivers",
              "extraContainers[0].name", "sidecar",
              "extraContainers[0].image", "sidecar"),
          Map.of("keda.enabled", true, "keda.prometheusUrl", "http://prometheus:9090"),
          Map.of("strimzi.topics.enabled", true, "strimzi.cluster", "shop"),
          Map.of("strimzi.user.enabled", true, "strimzi.cluster", "shop"),
          Map.of("strimzi.namespace", "kafka"),
          Map.of("strimzi.apiVersion", "v1beta2"),
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
        // The service has one path, whichever way leads to it.
        both.computeIfPresent("httpRoute.path", (key, path) -> both.get("ingress.path"));
        combinations.add(both);
      }
    }
    together.put("httpRoute.path", together.getOrDefault("ingress.path", "/"));
    combinations.add(together);
    return Stream.concat(examples, combinations.stream().distinct().map(Chart::render));
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
        assertThat(Chart.kind(object)).isEqualTo("ScaledObject");
      }
    }
  }

  /** What one object names exists in another. */
  private static void assertConsistent(Objects objects) {
    Map<String, String> podLabels = strings(objects.pod().at("/metadata/labels"));
    Set<String> ports =
        Chart.stream(objects.container().path("ports"))
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
    String account = objects.pod().at("/spec/serviceAccountName").asString();
    assertThat(account).isNotEmpty();
    assertThat(objects.of("ServiceAccount")).extracting(Chart::name).allMatch(account::equals);
    for (JsonNode route : objects.of("HTTPRoute")) {
      JsonNode backend = route.at("/spec/rules/0/backendRefs/0");
      assertThat(objects.of("Service"))
          .filteredOn(service -> Chart.name(service).equals(backend.path("name").asString()))
          .singleElement()
          .satisfies(
              service ->
                  assertThat(service.at("/spec/ports/0/port")).isEqualTo(backend.path("port")));
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
        Chart.stream(objects.pod().at("/spec/volumes"))
            .collect(Collectors.toMap(v -> v.path("name").asString(), v -> v));
    Map<String, String> mounts =
        Chart.stream(objects.container().path("volumeMounts"))
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
    for (String path : paths(String.join("\"", objects.properties().values()))) {
      assertThat(mounts.keySet()).as(path).anyMatch(path::startsWith);
    }
    Map<String, String> environment = Chart.environment(objects.container());
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
    assertThat(Chart.environment(objects.container()).keySet())
        .noneMatch(variable -> variable.contains("PASSWORD") || variable.contains("JAAS"));
    long stop = container.at("/lifecycle/preStop/exec/command/1").asLong(0) + LONGEST_STOP_SECONDS;
    assertThat(pod.path("terminationGracePeriodSeconds").asLong()).isGreaterThanOrEqualTo(stop);
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

  @Test
  void aMisspeltFieldOfStrimzisUserWouldBeNoticed() {
    ObjectNode user =
        (ObjectNode)
            Chart.render(Map.of("strimzi.user.enabled", true, "strimzi.cluster", "shop"))
                .only("KafkaUser")
                .deepCopy();
    ((ObjectNode) user.at("/spec/authorization/acls/0/resource")).put("patternTyp", "prefix");

    assertThatThrownBy(() -> Schemas.validate(user)).hasMessageContaining("patternTyp");
  }

  private static Map<String, String> strings(JsonNode node) {
    Map<String, String> strings = new HashMap<>();
    for (String name : new TreeSet<>(node.propertyNames())) {
      strings.put(name, node.path(name).asString());
    }
    assertThat(strings).isNotEmpty();
    return strings;
  }
}
