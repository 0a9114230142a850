package io.ordertimeout.it.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.ChildProcess;
import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Documents;
import io.ordertimeout.it.support.Programs;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TestEnvironment;
import io.ordertimeout.it.support.TopicNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.util.FileSystemUtils;

/**
 * The examples of shops that write their events to an outbox, as processes, with the service: an
 * order that is not paid is cancelled in the shop, and one that is paid is not.
 */
class ShopOutboxIT {

  private static final Path EXAMPLES = Documents.FOLDER.resolve("outbox");
  private static final Path TARGET = Path.of("target", "outbox").toAbsolutePath();

  /** Of a single command, or of the installation of libraries. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final TestEnvironment shared = TestEnvironment.shared();
  private final Scenario scenario = Scenario.withTopics(TopicNames::ofAShop);
  private final Database shop = Database.createEmpty(shared, scenario.name() + "_shop");

  @BeforeEach
  void createTables() throws IOException {
    shop.execute(Files.readString(EXAMPLES.resolve("outbox.sql")));
  }

  @AfterEach
  void close() {
    shop.drop();
    scenario.close();
  }

  @Test
  void inSpring() {
    Path jar = EXAMPLES.resolve("spring/target/shop.jar");
    assertThat(jar).isRegularFile();
    assertOrders(
        List.of(ChildProcess.JAVA, "-XX:TieredStopAtLevel=1", "-Xmx128m", "-jar", jar.toString()),
        "--run",
        Map.of(
            "SPRING_DATASOURCE_URL",
            shop.url(),
            "SPRING_DATASOURCE_USERNAME",
            shared.username(),
            "SPRING_DATASOURCE_PASSWORD",
            shared.password(),
            "SPRING_KAFKA_BOOTSTRAP_SERVERS",
            shared.bootstrapServers(),
            "SHOP_TOPIC_PREFIX",
            prefix()));
  }

  @Test
  @Tag("node")
  void inNode() throws IOException {
    FileSystemUtils.copyRecursively(EXAMPLES.resolve("node"), TARGET);
    String npm = Programs.path("npm", "npm").toString();
    run(
        new ProcessBuilder(npm, "install", "--no-audit", "--no-fund", "--no-package-lock")
            .directory(TARGET.toFile()));

    assertOrders(
        List.of(Programs.path("node", "nodejs").toString(), TARGET.resolve("shop.mjs").toString()),
        "run",
        environment());
  }

  @Test
  @Tag("python")
  void inPython() {
    // The one that Debian's packages of Python are for.
    assertOrders(
        List.of("/usr/bin/python3", EXAMPLES.resolve("python/shop.py").toString()),
        "run",
        environment());
  }

  private Map<String, String> environment() {
    String address = shop.url().substring("jdbc:postgresql://".length());
    return Map.of(
        "DATABASE_URL",
        "postgresql://%s:%s@%s".formatted(shared.username(), shared.password(), address),
        "KAFKA",
        shared.bootstrapServers(),
        "TOPIC_PREFIX",
        prefix());
  }

  private String prefix() {
    return scenario.topics().created().replace("order-created", "");
  }

  private void assertOrders(List<String> command, String run, Map<String, String> environment) {
    try (Service service = scenario.startService()) {
      run(builder(command, environment, "create", "unpaid", "1"));
      run(builder(command, environment, "create", "paid", "3600"));
      run(builder(command, environment, "pay", "paid", "payment-1"));
      assertThat(shop.count("select count(*) from outbox")).isEqualTo(3);

      ChildProcess relay = ChildProcess.start(scenario.name(), builder(command, environment, run));
      try {
        await().until(() -> state("unpaid").equals("CANCELLED"));
        scenario.awaitState("paid", "PAID");
        assertThat(state("paid")).isEqualTo("PAID");
        assertThat(scenario.outcomes().awaitCancelled("unpaid").text("orderId"))
            .isEqualTo("unpaid");
        assertThat(shop.count("select count(*) from outbox")).isZero();

        // What the shop was told late is a conflict, not a payment.
        run(builder(command, environment, "pay", "unpaid", "payment-2"));
        scenario.outcomes().awaitConflicts("unpaid", 1);
        assertThat(state("unpaid")).isEqualTo("CANCELLED");
        assertThat(relay.isAlive()).isTrue();
        assertThat(service.ownedShards()).isEqualTo(Scenario.PARTITIONS);
        // All events of an order are in partitions of the same number.
        assertThat(
                scenario.database().count("select count(*) from partition_count where misplaced"))
            .isZero();
      } finally {
        relay.kill();
      }
    }
  }

  private String state(String orderId) {
    return shop.text("select state from shop_order where id = ?", orderId);
  }

  private static ProcessBuilder builder(
      List<String> command, Map<String, String> environment, String... arguments) {
    List<String> all = new ArrayList<>(command);
    all.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(all);
    builder.environment().putAll(environment);
    return builder;
  }

  private void run(ProcessBuilder builder) {
    ChildProcess process = ChildProcess.start(scenario.name(), builder);
    assertThat(process.awaitEnd(PATIENCE)).as("%s ended", builder.command()).isTrue();
    assertThat(process.exitCode())
        .as("%s; log: %s", builder.command(), ChildProcess.log(scenario.name()))
        .isZero();
  }
}
