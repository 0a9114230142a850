package io.ordertimeout.it.chaos;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.Ports;
import io.ordertimeout.it.support.ChildProcess;
import io.ordertimeout.it.support.PostgresPair;
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
 * A Kafka and a Postgres with a standby for fault injection: processes that can be killed and
 * restarted on their data, each behind a proxy. The services connect through the proxies, the test
 * directly.
 */
final class FaultInjectedPlatform implements AutoCloseable {

  private static final Duration START_PATIENCE = Duration.ofMinutes(2);
  private static final String LOOPBACK = "127.0.0.1:";

  private final Path directory;
  private final int kafkaPort;
  private final int proxiedKafkaPort;
  private final TcpProxy kafkaProxy;
  private final PostgresPair postgres;
  private final Thread cleaner = new Thread(this::release, "platform-cleaner");
  private @Nullable ChildProcess broker;

  private FaultInjectedPlatform() throws IOException {
    this.directory = Files.createTempDirectory("order-timeout-chaos");
    this.kafkaPort = Ports.any();
    this.proxiedKafkaPort = Ports.any();
    this.kafkaProxy = TcpProxy.to(proxiedKafkaPort);
    this.postgres = PostgresPair.startDurable();
  }

  static FaultInjectedPlatform start() {
    try {
      FaultInjectedPlatform platform = new FaultInjectedPlatform();
      Runtime.getRuntime().addShutdownHook(platform.cleaner);
      platform.startKafka();
      return platform;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The addresses that the test uses. */
  TestEnvironment direct() {
    return postgres.direct(LOOPBACK + kafkaPort);
  }

  /** The addresses of the proxies, which the services use. */
  TestEnvironment proxied() {
    return postgres.proxied(LOOPBACK + kafkaProxy.port());
  }

  TcpProxy kafkaProxy() {
    return kafkaProxy;
  }

  TcpProxy postgresProxy() {
    return postgres.clients();
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
    postgres.startPrimary();
  }

  /** Ends Postgres without a clean shutdown. */
  void crashPostgres() {
    postgres.crashPrimary();
  }

  PostgresPair postgres() {
    return postgres;
  }

  /** Restarts everything that is down and restores all connections. */
  void restore() {
    startKafka();
    startPostgres();
    kafkaProxy.restore();
    postgresProxy().restore();
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
    killKafka();
    postgres.close();
    try {
      FileSystemUtils.deleteRecursively(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
