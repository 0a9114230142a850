package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.embedded.EmbeddedKafka;
import io.ordertimeout.embedded.EndOfJvm;
import io.ordertimeout.embedded.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.springframework.util.FileSystemUtils;

/**
 * Three brokers, each of them a process that can be killed, frozen and started again on its data.
 * Every partition, also of Kafka's internal topics, has three replicas, and two must have a record
 * before it is acknowledged. Services connect to each broker through a proxy, the test directly.
 */
public final class KafkaCluster implements AutoCloseable {

  private static final int SIZE = 3;
  private static final int ANSWER_SECONDS = 5;

  private final Path directory;
  private final List<Broker> brokers;
  private final Admin admin;
  private final EndOfJvm cleaner;

  private KafkaCluster() throws IOException {
    directory = Files.createTempDirectory("order-timeout-cluster");
    String clusterId = Uuid.randomUuid().toString();
    List<Integer> controllers = IntStream.range(0, SIZE).mapToObj(broker -> Ports.any()).toList();
    brokers =
        IntStream.rangeClosed(1, SIZE)
            .mapToObj(id -> new Broker(new EmbeddedKafka.Member(clusterId, id, controllers)))
            .toList();
    admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers()));
    cleaner = EndOfJvm.release("cluster-cleaner", this::release);
  }

  public static KafkaCluster start() {
    try {
      KafkaCluster cluster = new KafkaCluster();
      cluster.startAll();
      return cluster;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@code host:port} of all brokers. */
  public String bootstrapServers() {
    return brokers.stream().map(Broker::address).collect(Collectors.joining(","));
  }

  /** {@code host:port} of the proxies of all brokers. */
  public String proxiedBootstrapServers() {
    return proxies().stream()
        .map(proxy -> Ports.LOOPBACK + ":" + proxy.port())
        .collect(Collectors.joining(","));
  }

  public List<Broker> brokers() {
    return brokers;
  }

  public Broker any(RandomGenerator random) {
    return brokers.get(random.nextInt(brokers.size()));
  }

  public List<TcpProxy> proxies() {
    return brokers.stream().map(Broker::proxy).toList();
  }

  /** The broker that leads the partition, once there is one. */
  public Broker leader(TopicPartition partition) {
    return await("a leader of " + partition)
        .ignoreExceptions()
        .until(() -> currentLeader(partition), Objects::nonNull);
  }

  /** Waits until another broker than the given one leads the partition. */
  public Broker awaitLeaderOtherThan(Broker former, TopicPartition partition) {
    return await("a leader of " + partition + " other than " + former)
        .ignoreExceptions()
        .until(() -> currentLeader(partition), leader -> leader != null && leader != former);
  }

  private @Nullable Broker currentLeader(TopicPartition partition)
      throws ExecutionException, InterruptedException, TimeoutException {
    Node leader = describe(partition).leader();
    return leader == null || leader.isEmpty() ? null : brokers.get(leader.id() - 1);
  }

  private TopicPartitionInfo describe(TopicPartition partition)
      throws ExecutionException, InterruptedException, TimeoutException {
    TopicDescription topic =
        Objects.requireNonNull(
            answer(admin.describeTopics(List.of(partition.topic())).allTopicNames())
                .get(partition.topic()));
    return topic.partitions().get(partition.partition());
  }

  /** Waits until no broker leads the partition. */
  public void awaitNoLeader(TopicPartition partition) {
    await("no leader of " + partition)
        .ignoreExceptions()
        .until(() -> currentLeader(partition) == null);
  }

  /** The brokers that have the partition, the preferred leader first. */
  public List<Broker> replicas(TopicPartition partition) {
    return await("the replicas of " + partition)
        .ignoreExceptions()
        .until(() -> currentReplicas(partition), replicas -> !replicas.isEmpty());
  }

  /** Moves a partition to brokers; returns when they have it, and no others. */
  public void move(TopicPartition partition, List<Broker> to) {
    NewPartitionReassignment target =
        new NewPartitionReassignment(to.stream().map(broker -> broker.place.nodeId()).toList());
    await(partition + " to move to " + to)
        .ignoreExceptions()
        .until(
            () -> {
              answer(
                  admin.alterPartitionReassignments(Map.of(partition, Optional.of(target))).all());
              return currentReplicas(partition).equals(to);
            });
  }

  /**
   * Has the only replica of a partition lead it again. Kafka may keep former replicas as the
   * eligible leaders (KIP-966), and then elects none by itself.
   */
  public void electOnlyReplica(TopicPartition partition) {
    await("a leader of " + partition)
        .ignoreExceptions()
        .until(
            () -> {
              if (currentLeader(partition) == null) {
                answer(admin.electLeaders(ElectionType.UNCLEAN, Set.of(partition)).all());
              }
              return currentLeader(partition) != null;
            });
  }

  private List<Broker> currentReplicas(TopicPartition partition)
      throws ExecutionException, InterruptedException, TimeoutException {
    return describe(partition).replicas().stream().map(node -> brokers.get(node.id() - 1)).toList();
  }

  /** Starts all brokers that do not run, and returns once the controller accepts them. */
  public void startAll() {
    brokers.forEach(Broker::launch);
    brokers.forEach(Broker::awaitAccepted);
  }

  private static <T> T answer(KafkaFuture<T> answer)
      throws ExecutionException, InterruptedException, TimeoutException {
    return answer.get(ANSWER_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    if (cleaner.cancel()) {
      release();
    }
  }

  private void release() {
    admin.close(Duration.ZERO);
    for (Broker broker : brokers) {
      broker.proxy.close();
      broker.kill();
    }
    try {
      FileSystemUtils.deleteRecursively(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A broker of the cluster. */
  public final class Broker {

    private final EmbeddedKafka.Member place;
    private final int port = Ports.any();
    private final int proxiedPort = Ports.any();
    private final TcpProxy proxy = TcpProxy.to(proxiedPort);
    private @Nullable ChildProcess process;

    private Broker(EmbeddedKafka.Member place) {
      this.place = place;
    }

    /** {@code host:port}, for the test. */
    public String address() {
      return Ports.LOOPBACK + ":" + port;
    }

    /** Its data directory. */
    public Path directory() {
      return directory.resolve(toString());
    }

    /** The proxy of the services. */
    public TcpProxy proxy() {
      return proxy;
    }

    /** Starts it, unless it runs, and returns once the controller accepts it. */
    public void start() {
      launch();
      awaitAccepted();
    }

    private void launch() {
      if (process != null) {
        return;
      }
      List<String> command = new ArrayList<>();
      command.add(ChildProcess.JAVA);
      command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
      command.addAll(List.of("-cp", System.getProperty("java.class.path")));
      command.add(BrokerMain.class.getName());
      command.addAll(
          BrokerMain.arguments(
              directory(),
              port,
              new EmbeddedKafka.ProxiedListener(proxiedPort, proxy.port()),
              place));
      process = ChildProcess.start(toString() + "-" + port, command);
    }

    private void awaitAccepted() {
      ChildProcess started = running();
      await(this + " to be accepted")
          .failFast(this + " has ended", () -> !started.isAlive())
          .ignoreExceptions()
          .until(this::isAccepted);
    }

    /** Waits until the controller has given it up, so that others lead its partitions. */
    public void awaitFenced() {
      await(this + " to be fenced").ignoreExceptions().until(() -> !isAccepted());
    }

    private boolean isAccepted() throws ExecutionException, InterruptedException, TimeoutException {
      return answer(admin.describeCluster().nodes()).stream()
          .anyMatch(node -> node.id() == place.nodeId());
    }

    /** Kills it (SIGKILL). */
    public void kill() {
      if (process != null) {
        process.kill();
        process = null;
      }
    }

    /** Suspends it (SIGSTOP), with all its connections open. */
    public void freeze() {
      running().signal("STOP");
    }

    /** Resumes it (SIGCONT). */
    public void thaw() {
      running().signal("CONT");
    }

    private ChildProcess running() {
      return Objects.requireNonNull(process, this + " does not run");
    }

    @Override
    public String toString() {
      return "broker-" + place.nodeId();
    }
  }
}
