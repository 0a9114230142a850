package io.ordertimeout.it.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.kubernetes.Chart.Objects;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import tools.jackson.databind.JsonNode;

/** What the service gets from the chart: its configuration, its name and its secrets. */
class ChartServiceTest {

  @Test
  void aRestartedContainerKeepsItsNameInTheGroupAndAStoppedInstanceLeavesIt() {
    Objects objects = Chart.render(Map.of());

    assertThat(objects.properties())
        .containsEntry("order-timeout.intake.instance-id", "${POD_NAME}")
        .containsEntry("order-timeout.intake.leave-on-stop", "true");
    assertThat(Chart.stream(objects.container().path("env")))
        .filteredOn(variable -> variable.path("name").asString().equals("POD_NAME"))
        .singleElement()
        .satisfies(
            variable ->
                assertThat(variable.at("/valueFrom/fieldRef/fieldPath").asString())
                    .isEqualTo("metadata.name"));
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
    String protocol = "spring.kafka.properties.security.protocol";

    assertThat(Chart.render(Map.of()).properties()).doesNotContainKey(protocol);
    assertThat(Chart.render(Map.of("kafka.tls.enabled", true)).properties())
        .containsEntry(protocol, "SSL");
    assertThat(Chart.render(Map.of("kafka.sasl.existingSecret", "u")).properties())
        .containsEntry(protocol, "SASL_PLAINTEXT");
    assertThat(
            Chart.render(Map.of("kafka.tls.enabled", true, "kafka.sasl.existingSecret", "u"))
                .properties())
        .containsEntry(protocol, "SASL_SSL")
        .containsEntry("spring.kafka.properties.sasl.mechanism", "SCRAM-SHA-512");
  }

  @Test
  void behindAnIngressOrAGatewayClientsAreToldApart() {
    String strategy = "server.forward-headers-strategy";
    String proxies = "server.tomcat.remoteip.internal-proxies";

    assertThat(Chart.render(Map.of()).properties()).doesNotContainKeys(strategy, proxies);
    for (Map<String, Object> entrance :
        List.<Map<String, Object>>of(
            Map.of("ingress.enabled", true, "ingress.host", "orders.example.com"),
            Map.of("httpRoute.enabled", true, "httpRoute.parentRefs[0].name", "gateway"))) {
      Map<String, Object> values = new HashMap<>(entrance);
      assertThat(Chart.render(values).properties())
          .containsEntry(strategy, "native")
          .hasEntrySatisfying(proxies, ranges -> assertThat(ranges).contains("10.0.0.0/8"));
      values.put("trustedProxies", "10.1.2.0/24");
      assertThat(Chart.render(values).properties()).containsEntry(proxies, "10.1.2.0/24");
    }
  }

  /** Otherwise, a healthy release would hide another one that is not. */
  @Test
  void seriesOfTwoReleasesInOneNamespaceAreToldApart() {
    for (String release : List.of("order-timeout", "north", "south")) {
      Objects objects =
          Chart.renderAs(
              release,
              Map.of(
                  "serviceMonitor.enabled", true,
                  "keda.enabled", true,
                  "keda.prometheusUrl", "http://prometheus:9090"));
      String application = Chart.name(objects.only("StatefulSet"));
      JsonNode endpoint = objects.only("ServiceMonitor").at("/spec/endpoints/0");

      assertThat(application).startsWith(release);
      assertThat(objects.properties()).containsEntry("spring.application.name", application);
      // An instance that cannot be scraped has only the labels of its target.
      assertThat(endpoint.at("/relabelings/0/targetLabel").asString()).isEqualTo("application");
      assertThat(endpoint.at("/relabelings/0/replacement").asString()).isEqualTo(application);
      assertThat(endpoint.path("honorLabels").asBoolean()).isTrue();
      assertThat(objects.only("ScaledObject").at("/spec/triggers/0/metadata/query").asString())
          .contains("namespace=\"shop\", application=\"" + application + "\"");
    }
  }

  /** Kafka's client reports a topic with a dot in its name twice, once with an underscore. */
  @Test
  void unreadEventsAreCountedOnceWhateverTheTopicsAreCalled() {
    JsonNode scaled =
        Chart.render(
                """
                config: {order-timeout.topics.created: shop.orders}
                keda: {enabled: true, prometheusUrl: "http://prometheus:9090"}
                """)
            .only("ScaledObject");

    assertThat(scaled.at("/spec/triggers/0/metadata/query").asString())
        .endsWith("topic=~\"shop\\\\.orders|order-paid|order-closed\"})");
  }

  @Test
  void topicsOutliveTheReleaseAndAreWhereTheirKafkaIs() {
    Objects objects =
        Chart.render(
            Map.of(
                "strimzi.cluster",
                "shop",
                "strimzi.namespace",
                "kafka",
                "strimzi.topics.enabled",
                true,
                "strimzi.user.enabled",
                true));

    assertThat(objects.of("KafkaTopic"))
        .isNotEmpty()
        .allSatisfy(
            topic -> {
              assertThat(topic.path("apiVersion").asString()).isEqualTo("kafka.strimzi.io/v1");
              assertThat(topic.at("/metadata/annotations/helm.sh~1resource-policy").asString())
                  .isEqualTo("keep");
              assertThat(topic.at("/metadata/namespace").asString()).isEqualTo("kafka");
            });
    assertThat(objects.only("KafkaUser").at("/metadata/namespace").asString()).isEqualTo("kafka");
  }

  @Test
  void theServiceServesThePathThatTheIngressLeadsTo() {
    Map<String, Object> values = new HashMap<>();
    assertServedAt("", values);
    values.put("ingress.path", "/shop/orders");
    assertServedAt("", values);
    values.put("ingress.enabled", true);
    values.put("ingress.host", "shop.example.com");
    assertServedAt("/shop/orders", values);
    values.put("ingress.path", "/");
    assertServedAt("", values);
  }

  private static void assertServedAt(String contextPath, Map<String, Object> values) {
    Objects objects = Chart.render(values);
    assertThat(objects.properties().getOrDefault("server.servlet.context-path", ""))
        .isEqualTo(contextPath);
    for (JsonNode ingress : objects.of("Ingress")) {
      assertThat(ingress.at("/spec/rules/0/http/paths/0/path").asString())
          .isEqualTo(contextPath.isEmpty() ? "/" : contextPath);
    }
    // The context path does not apply to the management port.
    assertThat(objects.container().at("/readinessProbe/httpGet/path").asString())
        .isEqualTo("/actuator/health/readiness");
    assertThat(objects.container().at("/readinessProbe/httpGet/port").asString())
        .isEqualTo("management");
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
    Chart.stream(objects.container().path("env"))
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
  void whereThePlatformAssignsIdsThePodsAskForNone() {
    assertThat(Chart.render(Map.of()).pod().at("/spec/securityContext").propertyNames())
        .contains("runAsUser", "runAsGroup", "fsGroup");
    assertThat(
            Chart.render(Chart.example("openshift.yaml"))
                .pod()
                .at("/spec/securityContext")
                .propertyNames())
        .containsExactlyInAnyOrder("runAsNonRoot", "seccompProfile");
  }
}
