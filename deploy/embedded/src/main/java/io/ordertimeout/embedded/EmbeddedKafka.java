package io.ordertimeout.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;
import org.jspecify.annotations.Nullable;

/**
 * Kafka broker and KRaft controller in this process, bound to the loopback address.
 *
 * <p>Record timestamps are the broker's append times ({@code LogAppendTime}). The broker can be
 * stopped and started again on the same directory and port. Thread-safe.
 */
public final class EmbeddedKafka implements AutoCloseable {
  /** Node id of the first broker, which is also the controller. */
  private static final int FIRST = 1;

  /** Node id of the optional second broker. */
  public static final int SECOND = 2;

  private static final String CLIENTS = "CLIENTS";
  private static final String PROXIED = "PROXIED";
  private static final String CONTROLLER = "CONTROLLER";

  /**
   * Additional listener that advertises the port of a proxy.
   *
   * @param port port on which the broker listens
   * @param advertisedPort port to which clients connect
   */
  public record ProxiedListener(int port, int advertisedPort) {}

  /**
   * Additional listener with TLS, SASL or both.
   *
   * @param name listener name in capitals
   * @param port port on which the broker listens
   * @param protocol security protocol of the listener
   * @param settings broker settings that apply to this listener only
   */
  public record SecuredListener(
      String name, int port, SecurityProtocol protocol, Map<String, String> settings) {

    public SecuredListener {
      settings = Map.copyOf(settings);
    }

    private String address() {
      return name + "://" + Ports.LOOPBACK + ":" + port;
    }
  }

  private final Path directory;
  private final int port;
  private final @Nullable ProxiedListener proxied;
  private final List<SecuredListener> secured;
  private final @Nullable EmbeddedKafka first;
  private @Nullable KafkaRaftServer server;
  private int controllerPort;

  EmbeddedKafka(Path directory, int preferredPort) throws IOException {
    this(directory, preferredPort, null, List.of(), null);
  }

  /** Creates a broker with secured listeners in addition to the plaintext one. */
  public EmbeddedKafka(Path directory, int preferredPort, List<SecuredListener> secured)
      throws IOException {
    this(directory, preferredPort, null, secured, null);
  }

  /** Creates a broker with an additional listener for clients that connect through a proxy. */
  public EmbeddedKafka(Path directory, int preferredPort, @Nullable ProxiedListener proxied)
      throws IOException {
    this(directory, preferredPort, proxied, List.of(), null);
  }

  private EmbeddedKafka(
      Path directory,
      int preferredPort,
      @Nullable ProxiedListener proxied,
      List<SecuredListener> secured,
      @Nullable EmbeddedKafka first)
      throws IOException {
    this.directory = Files.createDirectories(directory.toAbsolutePath().normalize());
    this.port = Ports.free("Kafka", preferredPort);
    this.proxied = proxied;
    this.secured = List.copyOf(secured);
    this.first = first;
  }

  /**
   * Creates a second broker of this cluster, which has no controller and needs this one running.
   */
  EmbeddedKafka second(Path secondDirectory) throws IOException {
    return new EmbeddedKafka(secondDirectory, 0, null, List.of(), this);
  }

  /** Returns {@code host:port} of the plaintext listener. */
  public String bootstrapServers() {
    return Ports.LOOPBACK + ":" + port;
  }

  /** Starts the broker and returns once it accepts clients; does nothing if it is running. */
  public synchronized void start() throws IOException {
    if (server != null) {
      return;
    }
    if (!Files.exists(directory.resolve("meta.properties"))) {
      format();
    }
    controllerPort = first == null ? Ports.any() : first.controllerPort();
    KafkaRaftServer starting = new KafkaRaftServer(KafkaConfig.fromProps(settings()), Time.SYSTEM);
    try {
      starting.startup();
    } catch (RuntimeException e) {
      starting.shutdown();
      throw new IOException(
          "Cannot start Kafka on port " + port + " with data directory " + directory, e);
    }
    server = starting;
  }

  private synchronized int controllerPort() {
    return controllerPort;
  }

  /** Stops the broker, even if it is the only leader of partitions; returns when it is down. */
  public synchronized void stop() {
    if (server != null) {
      server.shutdown();
      server.awaitShutdown();
      server = null;
    }
  }

  @Override
  public void close() {
    stop();
  }

  private void format() throws IOException {
    try (PrintStream discarded =
        new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)) {
      new Formatter()
          .setPrintStream(discarded)
          .setNodeId(nodeId())
          .setClusterId(first == null ? Uuid.randomUuid().toString() : first.clusterId())
          .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
          .setControllerListenerName(CONTROLLER)
          .setMetadataLogDirectory(directory.toString())
          .addDirectory(directory.toString())
          // A static quorum with one voter, whose port changes with every start.
          .setHasDynamicQuorum(false)
          .setIgnoreFormatted(true)
          .run();
    } catch (Exception e) {
      throw new IOException("Cannot format the Kafka data directory " + directory, e);
    }
  }

  private int nodeId() {
    return first == null ? FIRST : SECOND;
  }

  private String clusterId() throws IOException {
    Properties meta = new Properties();
    try (InputStream file = Files.newInputStream(directory.resolve("meta.properties"))) {
      meta.load(file);
    }
    return Objects.requireNonNull(meta.getProperty("cluster.id"), "cluster.id");
  }

  private Properties settings() {
    String controller = Ports.LOOPBACK + ":" + controllerPort;
    Properties settings = new Properties();
    settings.setProperty("node.id", String.valueOf(nodeId()));
    settings.setProperty("process.roles", first == null ? "broker,controller" : "broker");
    settings.setProperty("controller.quorum.voters", FIRST + "@" + controller);
    settings.setProperty("controller.listener.names", CONTROLLER);
    settings.setProperty("inter.broker.listener.name", CLIENTS);
    String listeners = CLIENTS + "://" + bootstrapServers();
    String protocols =
        CLIENTS + ":PLAINTEXT," + PROXIED + ":PLAINTEXT," + CONTROLLER + ":PLAINTEXT";
    for (SecuredListener listener : secured) {
      listeners += "," + listener.address();
      protocols += "," + listener.name() + ":" + listener.protocol();
      String prefix = "listener.name." + listener.name().toLowerCase(Locale.ROOT) + ".";
      listener.settings().forEach((name, value) -> settings.setProperty(prefix + name, value));
    }
    String advertised = listeners;
    if (proxied != null) {
      String listener = "," + PROXIED + "://" + Ports.LOOPBACK + ":";
      listeners += listener + proxied.port();
      advertised += listener + proxied.advertisedPort();
    }
    settings.setProperty(
        "listeners", first == null ? listeners + "," + CONTROLLER + "://" + controller : listeners);
    settings.setProperty("advertised.listeners", advertised);
    settings.setProperty("listener.security.protocol.map", protocols);
    // Short sessions: a killed broker can register again, and the partitions of a killed consumer
    // are reassigned, only after the previous session has expired.
    settings.setProperty("broker.session.timeout.ms", "3000");
    settings.setProperty("broker.heartbeat.interval.ms", "500");
    settings.setProperty("group.consumer.min.session.timeout.ms", "10000");
    settings.setProperty("group.consumer.session.timeout.ms", "10000");
    settings.setProperty("group.consumer.min.heartbeat.interval.ms", "2000");
    settings.setProperty("group.consumer.heartbeat.interval.ms", "2000");
    settings.setProperty("log.dirs", directory.toString());
    settings.setProperty("log.message.timestamp.type", "LogAppendTime");
    settings.setProperty("log.retention.hours", "24");
    settings.setProperty("log.cleaner.dedupe.buffer.size", String.valueOf(8 << 20));
    settings.setProperty("auto.create.topics.enable", "false");
    settings.setProperty("group.initial.rebalance.delay.ms", "0");
    settings.setProperty("offsets.topic.num.partitions", "5");
    settings.setProperty("offsets.topic.replication.factor", "1");
    settings.setProperty("transaction.state.log.num.partitions", "5");
    settings.setProperty("transaction.state.log.replication.factor", "1");
    settings.setProperty("transaction.state.log.min.isr", "1");
    settings.setProperty("share.coordinator.state.topic.num.partitions", "5");
    settings.setProperty("share.coordinator.state.topic.replication.factor", "1");
    settings.setProperty("share.coordinator.state.topic.min.isr", "1");
    return settings;
  }
}
