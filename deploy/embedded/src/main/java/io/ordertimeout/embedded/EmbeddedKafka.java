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
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;
import org.jspecify.annotations.Nullable;

/**
 * Kafka broker and KRaft controller in this process, bound to the loopback address.
 *
 * <p>Record timestamps are the broker's append times ({@code LogAppendTime}). The broker can be
 * stopped and started again on the same directory and port. Thread-safe.
 *
 * <p>Sets the default locale of this JVM to English, because the broker does not start in some
 * others.
 */
public final class EmbeddedKafka implements AutoCloseable {
  static {
    // Kafka finds the constant of its group type "classic" in capitals of the default locale, which
    // are CLASSİC in Turkish.
    Locale.setDefault(Locale.ENGLISH);
  }

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
   * Place in a cluster of brokers that are all controllers as well. Every partition has a replica
   * on each of them, and accepts records while a majority has it.
   *
   * @param clusterId the same for all brokers, in Kafka's format of UUIDs
   * @param nodeId 1 for the first broker
   * @param controllerPorts ports of all controllers, in the order of their node ids
   */
  public record Member(String clusterId, int nodeId, List<Integer> controllerPorts) {

    public Member {
      controllerPorts = List.copyOf(controllerPorts);
    }

    private int controllerPort() {
      return controllerPorts.get(nodeId - 1);
    }

    private String voters() {
      return IntStream.rangeClosed(1, controllerPorts.size())
          .mapToObj(id -> voter(id, controllerPorts.get(id - 1)))
          .collect(Collectors.joining(","));
    }
  }

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
  private final @Nullable Member member;
  private @Nullable KafkaRaftServer server;
  private int controllerPort;

  EmbeddedKafka(Path directory, int preferredPort) throws IOException {
    this(directory, preferredPort, null, List.of(), null, null);
  }

  /**
   * Creates a broker with secured listeners in addition to the plaintext one. Clients of the
   * secured listeners need ACLs; those of the plaintext one are superusers.
   */
  public EmbeddedKafka(Path directory, int preferredPort, List<SecuredListener> secured)
      throws IOException {
    this(directory, preferredPort, null, secured, null, null);
  }

  /**
   * Creates a broker of a cluster with an additional listener for clients that connect through a
   * proxy.
   */
  public EmbeddedKafka(Path directory, int preferredPort, ProxiedListener proxied, Member member)
      throws IOException {
    this(directory, preferredPort, proxied, List.of(), null, member);
  }

  private EmbeddedKafka(
      Path directory,
      int preferredPort,
      @Nullable ProxiedListener proxied,
      List<SecuredListener> secured,
      @Nullable EmbeddedKafka first,
      @Nullable Member member)
      throws IOException {
    this.directory = Files.createDirectories(directory.toAbsolutePath().normalize());
    this.port = Ports.free("Kafka", preferredPort);
    this.proxied = proxied;
    this.secured = List.copyOf(secured);
    this.first = first;
    this.member = member;
  }

  /**
   * Creates a second broker of this cluster, which has no controller and needs this one running.
   */
  EmbeddedKafka second(Path secondDirectory) throws IOException {
    return new EmbeddedKafka(secondDirectory, 0, null, List.of(), this, null);
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
    controllerPort = chooseControllerPort();
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

  private int chooseControllerPort() {
    if (member != null) {
      return member.controllerPort();
    }
    return first == null ? Ports.any() : first.controllerPort();
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
          .setClusterId(clusterIdToFormatWith())
          .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
          .setControllerListenerName(CONTROLLER)
          .setMetadataLogDirectory(directory.toString())
          .addDirectory(directory.toString())
          // A static quorum: the port of a single voter changes with every start.
          .setHasDynamicQuorum(false)
          .setIgnoreFormatted(true)
          .run();
    } catch (Exception e) {
      throw new IOException("Cannot format the Kafka data directory " + directory, e);
    }
  }

  private int nodeId() {
    if (member != null) {
      return member.nodeId();
    }
    return first == null ? FIRST : SECOND;
  }

  private static String voter(int id, int port) {
    return id + "@" + Ports.LOOPBACK + ":" + port;
  }

  private String clusterIdToFormatWith() throws IOException {
    if (member != null) {
      return member.clusterId();
    }
    return first == null ? Uuid.randomUuid().toString() : first.clusterId();
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
    settings.setProperty(
        "controller.quorum.voters",
        member == null ? voter(FIRST, controllerPort) : member.voters());
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
    if (!secured.isEmpty()) {
      settings.setProperty("authorizer.class.name", StandardAuthorizer.class.getName());
      settings.setProperty("super.users", String.valueOf(KafkaPrincipal.ANONYMOUS));
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
    settings.setProperty("group.consumer.min.session.timeout.ms", "6000");
    settings.setProperty("group.consumer.session.timeout.ms", "10000");
    settings.setProperty("group.consumer.min.heartbeat.interval.ms", "1500");
    settings.setProperty("group.consumer.heartbeat.interval.ms", "2000");
    settings.setProperty("log.dirs", directory.toString());
    settings.setProperty("log.message.timestamp.type", "LogAppendTime");
    settings.setProperty("log.retention.hours", "24");
    settings.setProperty("log.cleaner.dedupe.buffer.size", String.valueOf(8 << 20));
    settings.setProperty("auto.create.topics.enable", "false");
    settings.setProperty("group.initial.rebalance.delay.ms", "0");
    settings.setProperty("offsets.topic.num.partitions", "5");
    settings.setProperty("transaction.state.log.num.partitions", "5");
    settings.setProperty("share.coordinator.state.topic.num.partitions", "5");
    int brokers = member == null ? 1 : member.controllerPorts().size();
    String replicas = String.valueOf(brokers);
    settings.setProperty("default.replication.factor", replicas);
    settings.setProperty("offsets.topic.replication.factor", replicas);
    settings.setProperty("transaction.state.log.replication.factor", replicas);
    settings.setProperty("share.coordinator.state.topic.replication.factor", replicas);
    String majority = String.valueOf(brokers / 2 + 1);
    settings.setProperty("min.insync.replicas", majority);
    settings.setProperty("transaction.state.log.min.isr", majority);
    settings.setProperty("share.coordinator.state.topic.min.isr", majority);
    return settings;
  }
}
