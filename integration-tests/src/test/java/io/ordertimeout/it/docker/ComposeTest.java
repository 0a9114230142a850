package io.ordertimeout.it.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ordertimeout.orders.OrderServiceApplication;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ClassPathResource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The compose files: their consistency with each other, the images, the service and Kafka. */
class ComposeTest {

  private static final Map<String, String> VARIABLES =
      Map.of(
          "POSTGRES_PASSWORD",
          "postgres-secret",
          "OPERATOR_PASSWORD",
          "operator-secret",
          "GRAFANA_PASSWORD",
          "grafana-secret");

  private static final String METADATA = "META-INF/spring-configuration-metadata.json";

  private final Dockerfile dockerfile = ProjectFiles.dockerfile();
  private final ComposeFile compose = ProjectFiles.compose();
  private final ComposeFile observability = ProjectFiles.observability();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "services: {a: {image: a, image: b}}", // duplicate key
        "services: {a: {image: a, mem_limits: 1g}}", // unknown key
        "services: {a: {image: a, environment: {A: true}}}", // not a string
        "services: {a: {image: a, ports: 8080}}" // not a list
      })
  void invalidFilesAreRejected(String content, @TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("compose.yaml"), content);

    assertThatThrownBy(() -> ComposeFile.read(file)).isInstanceOf(RuntimeException.class);
  }

  @Test
  void theObservabilityFileAddsServicesAndChangesNone() {
    assertThat(observability.services().keySet())
        .isNotEmpty()
        .doesNotContainAnyElementsOf(compose.services().keySet());
  }

  @Test
  void allMountedAndBuiltFilesExist() {
    services()
        .forEach(
            (name, service) -> {
              if (service.build() != null) {
                Path context = ProjectFiles.DOCKER.resolve(service.build().context()).normalize();
                assertThat(context).as(name).isEqualTo(ProjectFiles.TOP);
                assertThat(context.resolve(service.build().dockerfile()))
                    .isEqualTo(ProjectFiles.DOCKER.resolve("Dockerfile"));
                assertThat(dockerfile.stages()).contains(service.build().target());
              }
              mounts(service)
                  .filter(mount -> mount.source().startsWith("."))
                  .forEach(
                      mount -> {
                        assertThat(ProjectFiles.DOCKER.resolve(mount.source())).as(name).exists();
                        assertThat(mount.options()).as(mount.source()).containsExactly("ro");
                      });
            });
  }

  @Test
  void persistentDataIsInNamedVolumes() {
    for (ComposeFile file : List.of(compose, observability)) {
      Set<String> used =
          file.services().values().stream()
              .flatMap(ComposeTest::mounts)
              .map(Mount::source)
              .filter(source -> !source.startsWith("."))
              .collect(Collectors.toSet());
      assertThat(used).isEqualTo(file.volumes().keySet());
    }
  }

  @Test
  void everyImageHasAVersionAndADigest() {
    List<String> images = new ArrayList<>(dockerfile.baseImages());
    services().values().stream()
        .filter(service -> service.build() == null)
        .forEach(service -> images.add(service.image()));

    assertThat(images)
        .isNotEmpty()
        .allMatch(image -> image.matches(".+:v?\\d+\\.\\d+[.\\w-]*@sha256:[0-9a-f]{64}"));
  }

  @Test
  void portsAreBoundToTheLoopbackAddress() {
    services()
        .forEach(
            (name, service) ->
                assertThat(service.ports())
                    .as(name)
                    .allMatch(port -> port.matches("127\\.0\\.0\\.1:\\d+:\\d+")));
    assertThat(services().values().stream().flatMap(service -> service.ports().stream()))
        .as("host ports")
        .doesNotHaveDuplicates();
  }

  @Test
  void theServicePublishesThePortsThatItsImageExposes() {
    List<String> exposed = dockerfile.last("order-service", "EXPOSE").words();

    assertThat(compose.service("order-service").ports())
        .extracting(port -> port.substring(port.lastIndexOf(':') + 1))
        .isEqualTo(exposed);
    YamlPropertiesFactoryBean settings = new YamlPropertiesFactoryBean();
    settings.setResources(new ClassPathResource("application.yaml"));
    Properties defaults = Objects.requireNonNull(settings.getObject());
    assertThat(exposed)
        .containsExactly(
            defaults.getProperty("server.port"), defaults.getProperty("management.server.port"));
  }

  @Test
  void theCacheOfTheJvmIsWrittenAsTheContainerRuns() {
    List<String> training = dockerfile.training("order-service").orElseThrow();
    List<String> expected = new ArrayList<>(List.of("java"));
    expected.addAll(List.of(option(training, "jvm-options").split(",")));
    expected.add("-XX:AOTCache=" + option(training, "output"));
    // What is mounted behind the classes of the service does not make the cache useless.
    expected.addAll(
        List.of(
            "-cp",
            option(training, "jar") + ":drivers/*",
            OrderServiceApplication.class.getName()));

    assertThat(dockerfile.last("order-service", "ENTRYPOINT").command()).isEqualTo(expected);
  }

  private static String option(List<String> command, String name) {
    String prefix = "--local.training." + name + "=";
    return command.stream()
        .filter(word -> word.startsWith(prefix))
        .findFirst()
        .orElseThrow()
        .substring(prefix.length());
  }

  @Test
  void noPasswordHasADefault() throws IOException {
    String readme = Files.readString(ProjectFiles.DOCKER.resolve("README.md"));
    services()
        .forEach(
            (name, service) ->
                service
                    .environment()
                    .forEach(
                        (variable, value) -> {
                          if (variable.contains("PASSWORD")) {
                            assertThat(value).as(name).matches("\\$\\{\\w+_PASSWORD:\\?.+}");
                          }
                        }));
    VARIABLES.keySet().forEach(variable -> assertThat(readme).contains(variable));
    assertThatThrownBy(() -> compose.service("postgres").environment(Map.of()))
        .hasMessageContaining("POSTGRES_PASSWORD");
  }

  @Test
  void everyContainerHasMinimalPrivileges() {
    services()
        .forEach(
            (name, service) -> {
              assertThat(service.capDrop()).as(name).containsExactly("ALL");
              assertThat(service.securityOpt()).as(name).containsExactly("no-new-privileges:true");
              assertThat(service.memLimit()).as(name).matches("\\d+[mg]");
              assertThat(service.readOnly()).as(name).isEqualTo(!name.equals("kafka"));
            });
    for (String stage : List.of("order-service", "traffic")) {
      assertThat(dockerfile.last(stage, "USER").arguments()).matches("[1-9]\\d+:[1-9]\\d+");
      assertThat(compose.service(stage).user()).isNull();
      // Docker mounts a tmpfs with noexec by default, and then native code cannot be loaded.
      assertThat(compose.service(stage).tmpfs()).singleElement().asString().startsWith("/tmp:exec");
    }
  }

  @Test
  void everyDependencyHasAHealthcheck() {
    services()
        .forEach(
            (name, service) ->
                service
                    .dependsOn()
                    .forEach(
                        (other, dependency) -> {
                          assertThat(dependency.condition()).isEqualTo("service_healthy");
                          assertThat(services()).containsKey(other);
                          // The images that we build contain one.
                          assertThat(services().get(other))
                              .as(other)
                              .matches(one -> one.healthcheck() != null || one.build() != null);
                        }));
    assertThat(compose.service("order-service").dependsOn()).containsOnlyKeys("postgres", "kafka");
    assertThat(dockerfile.healthcheck("order-service")).isNotEmpty();
  }

  @Test
  void everySettingOfTheServiceIsOneOfItsProperties() throws IOException {
    assertAreProperties(compose.service("order-service").environment(VARIABLES));
  }

  @Test
  void everySettingOfTheTrafficIsOneOfItsProperties() throws IOException {
    assertAreProperties(compose.service("traffic").environment(VARIABLES));
  }

  private static void assertAreProperties(Map<String, String> environment) throws IOException {
    Map<String, String> properties = new HashMap<>();
    for (String property : properties()) {
      properties.put(
          property.replace(".", "_").replace("-", "").toUpperCase(Locale.ROOT), property);
    }
    Binder binder =
        new Binder(
            ConfigurationPropertySources.from(
                new SystemEnvironmentPropertySource(
                    "systemEnvironment", Collections.unmodifiableMap(environment))));
    environment.forEach(
        (variable, value) -> {
          assertThat(properties).containsKey(variable);
          String property = properties.getOrDefault(variable, variable);
          assertThat(binder.bind(property, String.class).orElse("nothing")).isEqualTo(value);
        });
  }

  /** Returns all properties of Spring Boot, the service and the traffic generator. */
  private static Set<String> properties() throws IOException {
    Set<String> properties = new TreeSet<>();
    List<URL> all = Collections.list(ComposeTest.class.getClassLoader().getResources(METADATA));
    // The traffic generator is not on the class path of the tests.
    all.add(
        ProjectFiles.TOP.resolve("deploy/local/target/classes").resolve(METADATA).toUri().toURL());
    for (URL metadata : all) {
      try (InputStream content = metadata.openStream()) {
        for (JsonNode property : JsonMapper.shared().readTree(content).path("properties")) {
          properties.add(property.path("name").asString());
        }
      }
    }
    return properties;
  }

  @Test
  void theServiceUsesTheDatabaseThatPostgresCreates() {
    Map<String, String> postgres = compose.service("postgres").environment(VARIABLES);
    Map<String, String> service = compose.service("order-service").environment(VARIABLES);

    assertThat(service)
        .containsEntry(
            "SPRING_DATASOURCE_URL",
            "jdbc:postgresql://postgres:5432/" + postgres.get("POSTGRES_DB"))
        .containsEntry("SPRING_DATASOURCE_USERNAME", postgres.get("POSTGRES_USER"))
        .containsEntry("SPRING_DATASOURCE_PASSWORD", postgres.get("POSTGRES_PASSWORD"));
    // From Postgres 18 on, a mount one directory deeper would not contain the data.
    assertThat(mounts(compose.service("postgres")).map(Mount::target))
        .containsExactly("/var/lib/postgresql");
  }

  @Test
  void kafkaAcceptsItsSettings() {
    Properties settings = brokerSettings();

    assertThat(KafkaConfig.configDef().names()).containsAll(settings.stringPropertyNames());
    assertThatCode(() -> KafkaConfig.fromProps(settings)).doesNotThrowAnyException();
    assertThat(mounts(compose.service("kafka")).map(Mount::target))
        .containsExactly(settings.getProperty("log.dirs"));
  }

  @Test
  void clientsUseTheAddressesThatKafkaAdvertises() {
    List<String> advertised =
        List.of(brokerSettings().getProperty("advertised.listeners").split(","));

    assertThat(advertised)
        .containsExactlyInAnyOrder(
            "CONTAINERS://"
                + compose
                    .service("order-service")
                    .environment(VARIABLES)
                    .get("SPRING_KAFKA_BOOTSTRAPSERVERS"),
            "HOST://localhost:9092");
    assertThat(compose.service("traffic").environment())
        .containsEntry(
            "LOCAL_KAFKA",
            compose.service("order-service").environment().get("SPRING_KAFKA_BOOTSTRAPSERVERS"));
    assertThat(compose.service("kafka").ports()).containsExactly("127.0.0.1:9092:9092");
  }

  /** Returns the broker settings by the rule in the README of Kafka's image. */
  private Properties brokerSettings() {
    Properties settings = new Properties();
    compose
        .service("kafka")
        .environment(VARIABLES)
        .forEach(
            (variable, value) -> {
              if (!variable.equals("KAFKA_HEAP_OPTS")) {
                settings.setProperty(
                    variable
                        .substring("KAFKA_".length())
                        .replace('_', '.')
                        .toLowerCase(Locale.ROOT),
                    value);
              }
            });
    return settings;
  }

  @Test
  void theBuildContextContainsNoSecretsOrOldResults() throws IOException {
    assertThat(Files.readAllLines(ProjectFiles.TOP.resolve(".dockerignore")))
        .contains("**/target", "**/.env", ".git", ".local");
    assertThat(Files.readAllLines(ProjectFiles.TOP.resolve(".gitignore"))).contains(".env");
  }

  private Map<String, ComposeFile.Service> services() {
    Map<String, ComposeFile.Service> all = new TreeMap<>(compose.services());
    all.putAll(observability.services());
    return all;
  }

  private record Mount(String source, String target, List<String> options) {}

  private static Stream<Mount> mounts(ComposeFile.Service service) {
    return service.volumes().stream()
        .map(
            volume -> {
              List<String> parts = List.of(volume.split(":"));
              return new Mount(parts.get(0), parts.get(1), parts.subList(2, parts.size()));
            });
  }
}
