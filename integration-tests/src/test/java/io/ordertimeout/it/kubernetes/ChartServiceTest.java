package io.ordertimeout.it.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.kubernetes.Chart.Objects;
import java.util.HashMap;
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

    JsonNode intake = objects.configuration().at("/order-timeout/intake");
    assertThat(intake.path("instance-id").asString()).isEqualTo("${POD_NAME}");
    assertThat(intake.path("leave-on-stop").asBoolean()).isTrue();
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
    assertThat(objects.configuration().at("/server/servlet/context-path").asString(""))
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
