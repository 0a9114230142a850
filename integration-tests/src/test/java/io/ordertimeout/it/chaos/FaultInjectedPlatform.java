package io.ordertimeout.it.chaos;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.EmbeddedPostgres;
import io.ordertimeout.embedded.Ports;
import io.ordertimeout.it.support.ChildProcess;
import io.ordertimeout.it.support.TcpProxy;
import io.ordertimeout.it.support.TestEnvironment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.jspecify.annotations.Nullable;
import org.springframework.util.FileSystemUtils;

/**
 * A Kafka and a Postgres for fault injection: processes that can be killed and restarted on their
 * data, each behind a proxy. The services connect through the proxies, the test directly.
 */
final class FaultInjectedPlatform implements AutoCloseable {

  private static final Duration START_PATIENCE = Duration.ofMinutes(2);
  private static final String LOOPBACK = "127.0.0.1:";

  private final Path directory;
  private final int kafkaPort;
  private final int proxiedKafkaPort;
  private final TcpProxy kafkaProxy;
  private final EmbeddedPostgres postgres;
  private final TcpProxy postgresProxy;
  private final Thread cleaner = new Thread(this::release, "platform-cleaner");
  private @Nullable ChildProcess broker;

  private FaultInjectedPlatform() throws IOException {
    this.directory = Files.createTempDirectory("order-timeout-chaos");
    this.kafkaPort = Ports.any();
    this.proxiedKafkaPort = Ports.any();
    this.kafkaProxy = TcpProxy.to(proxiedKafkaPort);
    this.postgres = new EmbeddedPostgres(directory.resolve("postgres"), 0);
    this.postgresProxy = TcpProxy.to(port(postgres.jdbcUrl()));
  }

  static FaultInjectedPlatform start() {
    try {
      FaultInjectedPlatform platform = new FaultInjectedPlatform();
      Runtime.getRuntime().addShutdownHook(platform.cleaner);
      platform.startKafka();
      platform.startPostgres();
      return platform;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The addresses that the test uses. */
  TestEnvironment direct() {
    return platform(kafkaPort, port(postgres.jdbcUrl()));
  }

  /** The addresses of the proxies, which the services use. */
  TestEnvironment proxied() {
    return platform(kafkaProxy.port(), postgresProxy.port());
  }

  private TestEnvironment platform(int kafka, int database) {
    return new TestEnvironment(
        LOOPBACK + kafka,
        postgres.jdbcUrl().replaceFirst(":\\d+/", ":" + database + "/"),
        EmbeddedPostgres.NAME,
        postgres.password());
  }

  TcpProxy kafkaProxy() {
    return kafkaProxy;
  }

  TcpProxy postgresProxy() {
    return postgresProxy;
  }

  /** Starts Kafka unless it runs; returns once it answers. */
  void startKafka() {
    if (broker != null) {
      return;
    }
    List<String> command = new ArrayList<>();
    command.add(ChildProcess.JAVA);
    command.addAll(List.of("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(BrokerMain.class.getName());
    command.add(directory.resolve("kafka").toString());
    command.addAll(
        List.of(
            String.valueOf(kafkaPort),
            String.valueOf(proxiedKafkaPort),
            String.valueOf(kafkaProxy.port())));
    ChildProcess started = ChildProcess.start("broker-" + kafkaPort, command);
    broker = started;
    try (Admin admin =
        Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, LOOPBACK + kafkaPort))) {
      await("Kafka")
          .atMost(START_PATIENCE)
          .failFast("the broker has ended", () -> !started.isAlive())
          .ignoreExceptions()
          .until(() -> !admin.describeCluster().nodes().get(5, TimeUnit.SECONDS).isEmpty());
    }
  }

  /** Kills Kafka, as a power cut would. */
  void killKafka() {
    if (broker != null) {
      broker.kill();
      broker = null;
    }
  }

  void startPostgres() {
    try {
      postgres.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends Postgres without a clean shutdown. */
  void crashPostgres() {
    try {
      postgres.crash();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Restarts everything that is down and restores all connections. */
  void restore() {
    startKafka();
    startPostgres();
    kafkaProxy.restore();
    postgresProxy.restore();
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(cleaner);
    } catch (IllegalStateException e) {
      return; // The JVM is shutting down, and the hook releases everything.
    }
    release();
  }

  private void release() {
    kafkaProxy.close();
    postgresProxy.close();
    killKafka();
    try {
      postgres.close();
      FileSystemUtils.deleteRecursively(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int port(String jdbcUrl) {
    return Integer.parseInt(jdbcUrl.replaceFirst("^.*:(\\d+)/.*$", "$1"));
  }
}
