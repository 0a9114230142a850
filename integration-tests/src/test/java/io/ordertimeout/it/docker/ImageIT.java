package io.ordertimeout.it.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.Ports;
import io.ordertimeout.it.support.ChildProcess;
import io.ordertimeout.it.support.KafkaAdmin;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.TopicConfig;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The images of the Dockerfile, built and run without Docker. */
@Tag("faults")
@Order(30)
class ImageIT {

  /** The exit code that a shell reports for a process ended by SIGTERM. */
  private static final int ENDED_BY_SIGTERM = 128 + 15;

  private static final Duration START_PATIENCE = Duration.ofMinutes(3);

  private final Dockerfile dockerfile = ProjectFiles.dockerfile();
  private final ComposeFile compose = ProjectFiles.compose();

  @TempDir private Path directory;

  @BeforeEach
  void letOtherUsersEnter() throws IOException {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  @Test
  void theServiceCancelsOrdersWhenRunAsItsImage() throws IOException {
    Image image = Image.build(dockerfile, "order-service", directory);
    assertThat(image.copiedLayers()).isEqualTo(image.builtLayers());
    Map<String, Long> content = image.content();
    ComposeFile.Service container = compose.service("order-service");

    try (Scenario scenario = Scenario.create()) {
      Map<String, String> environment = environment(container, scenario);
      assertThat(image.healthcheck(environment)).isNotZero();
      ChildProcess process = image.run(scenario.name(), container.memLimit(), environment);
      try {
        await("health")
            .atMost(START_PATIENCE)
            .pollInterval(Duration.ofMillis(500))
            .failFast("the service has ended", () -> !process.isAlive())
            .until(() -> image.healthcheck(environment) == 0);
        assertCancelsUnpaidOrdersInAnyCompression(scenario);
        assertThat(process.stop(container.stopGrace())).isTrue();
        assertThat(process.exitCode()).isEqualTo(ENDED_BY_SIGTERM);
      } finally {
        process.kill();
      }
    }
    assertThat(image.content()).isEqualTo(content);
  }

  /** Some codecs are native code, which must be unpacked to a writable directory. */
  private static void assertCancelsUnpaidOrdersInAnyCompression(Scenario scenario) {
    Instant deadline = Scenario.in(Duration.ofSeconds(3));
    Map<String, String> times =
        Map.of(
            "createdAt",
            deadline.minus(Duration.ofMinutes(15)).toString(),
            "payBy",
            deadline.toString());
    List<String> codecs = List.of("none", "gzip", "snappy", "lz4", "zstd");
    for (String codec : codecs) {
      try (Shop shop = scenario.compressingShop(codec)) {
        shop.created("unpaid-" + codec, times);
        // Paid before its creation, so that the payment is in time on a machine of any speed.
        shop.paid("paid-" + codec, "p");
        shop.created("paid-" + codec, times);
      }
    }

    codecs.forEach(codec -> scenario.outcomes().awaitCancelled("unpaid-" + codec));
    scenario.awaitAllDecided();
    assertThat(scenario.outcomes().cancelled()).hasSameSizeAs(codecs);
    assertThat(scenario.outcomes().deadLetters()).isEmpty();
  }

  /** Returns the container's environment with the addresses of this test. */
  private static Map<String, String> environment(ComposeFile.Service container, Scenario scenario) {
    Map<String, String> here = scenario.settings();
    Map<String, String> environment =
        container.environment(
            Map.of(
                "POSTGRES_PASSWORD",
                take(here, "spring.datasource.password"),
                "OPERATOR_PASSWORD",
                take(here, "order-timeout.access.operator-password")));
    environment.replace("SPRING_DATASOURCE_URL", take(here, "spring.datasource.url"));
    environment.replace("SPRING_DATASOURCE_USERNAME", take(here, "spring.datasource.username"));
    environment.replace(
        "SPRING_KAFKA_BOOTSTRAPSERVERS", take(here, "spring.kafka.bootstrap-servers"));
    here.remove("management.server.port");
    environment.put("MANAGEMENT_SERVER_PORT", String.valueOf(Ports.any()));
    environment.put("SPRING_APPLICATION_JSON", new String(Shop.json(here), StandardCharsets.UTF_8));
    return environment;
  }

  private static String take(Map<String, String> settings, String name) {
    return Objects.requireNonNull(settings.remove(name), name);
  }

  @Test
  void theTrafficRunsAgainstAServiceElsewhere() throws IOException {
    Image image = Image.build(dockerfile, "traffic", directory);
    assertThat(image.builtLayers()).containsOnlyOnce("servers").containsAll(image.copiedLayers());
    assertThat(image.copiedLayers()).isNotEmpty().doesNotContain("servers");
    ComposeFile.Service container = compose.service("traffic");

    try (Scenario scenario = Scenario.unprepared();
        DefaultTopics topics = DefaultTopics.create(scenario);
        Service service = scenario.startService(topics.settings())) {
      service.awaitReady(true);
      Map<String, String> environment = container.environment(Map.of("ORDERS_PER_SECOND", "50"));
      environment.replace("LOCAL_KAFKA", scenario.bootstrapServers());
      environment.put("LOCAL_TRAFFIC_TIMEOUTMIN", "1s");
      environment.put("LOCAL_TRAFFIC_TIMEOUTMAX", "2s");
      environment.put("LOCAL_REPORTINTERVAL", "500ms");
      String logName = scenario.name() + "-traffic";
      ChildProcess process = image.run(logName, container.memLimit(), environment);
      try {
        await("report of paid and cancelled orders")
            .atMost(START_PATIENCE)
            .failFast("the traffic has ended", () -> !process.isAlive())
            .until(
                () ->
                    Files.readString(ChildProcess.log(logName))
                        .lines()
                        .anyMatch(
                            line ->
                                line.matches(
                                    "created [1-9].* paid [1-9].* cancelled [1-9].*"
                                        + " paid yet cancelled 0")));
        assertThat(process.stop(Duration.ofSeconds(30))).isTrue();
        assertThat(process.exitCode()).isEqualTo(ENDED_BY_SIGTERM);
      } finally {
        process.kill();
      }
    }
  }

  /** The topics with the default names, which the traffic uses, in the shared environment. */
  private record DefaultTopics(Scenario scenario) implements AutoCloseable {

    private static final List<String> NAMES =
        List.of(
            "order-created",
            "order-paid",
            "order-closed",
            "order-payment-attempt",
            "order-changed",
            "order-cancelled",
            "order-payment-conflict",
            "order-expiring",
            "order-created.dlt",
            "order-paid.dlt",
            "order-closed.dlt",
            "order-payment-attempt.dlt",
            "order-changed.dlt");

    static DefaultTopics create(Scenario scenario) {
      scenario
          .kafka()
          .createTopics(
              NAMES.stream()
                  .map(
                      name ->
                          new NewTopic(name, Scenario.PARTITIONS, (short) 1)
                              .configs(
                                  Map.of(
                                      TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime")))
                  .toList());
      return new DefaultTopics(scenario);
    }

    String[] settings() {
      return new String[] {
        "order-timeout.topics.created", "order-created",
        "order-timeout.topics.paid", "order-paid",
        "order-timeout.topics.closed", "order-closed",
        "order-timeout.topics.attempts", "order-payment-attempt",
        "order-timeout.topics.changed", "order-changed",
        "order-timeout.topics.expiring", "order-expiring",
        "order-timeout.topics.cancelled", "order-cancelled",
        "order-timeout.topics.conflict", "order-payment-conflict"
      };
    }

    @Override
    public void close() {
      KafkaAdmin.get(scenario.kafka().client().deleteTopics(NAMES).all());
    }
  }
}
