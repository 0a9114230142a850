package io.ordertimeout.it.chaos;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.EmbeddedPostgres;
import io.ordertimeout.it.support.ChildProcess;
import io.ordertimeout.it.support.TcpProxy;
import io.ordertimeout.it.support.TestEnvironment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
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
 * A Kafka and a Postgres that are made to be broken: processes that can be killed and started again
 * on what they stored, each behind a proxy for the services. The test itself comes without a
 * detour.
 */
final class FragilePlatform implements AutoCloseable {

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

  private FragilePlatform() throws IOException {
    this.directory = Files.createTempDirectory("order-timeout-chaos");
    int[] ports = freePorts();
    this.kafkaPort = ports[0];
    this.proxiedKafkaPort = ports[1];
    this.kafkaProxy = TcpProxy.to(proxiedKafkaPort);
    this.postgres = new EmbeddedPostgres(directory.resolve("postgres"), 0);
    this.postgresProxy = TcpProxy.to(port(postgres.jdbcUrl()));
  }

  static FragilePlatform start() {
    try {
      FragilePlatform platform = new FragilePlatform();
      Runtime.getRuntime().addShutdownHook(platform.cleaner);
      platform.startKafka();
      platform.startPostgres();
      return platform;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As the test reaches it. */
  TestEnvironment direct() {
    return platform(kafkaPort, port(postgres.jdbcUrl()));
  }

  /** As the services reach it. */
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

  /** Returns when it answers; does nothing if it runs. */
  void startKafka() {
    if (broker != null) {
      return;
    }
    List<String> command = new ArrayList<>();
    command.add(ChildProcess.JAVA);
    command.addAll(List.of("-Xmx384m", "-XX:+UseSerialGC"));
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

  /** Ends it as a power cut does. */
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

  /** Ends it without any clean-up. */
  void crashPostgres() {
    try {
      postgres.crash();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Everything runs and can be reached again. */
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
      return; // this JVM ends, the hook does it
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

  private static int[] freePorts() throws IOException {
    try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return new int[] {one.getLocalPort(), other.getLocalPort()};
    }
  }
}
