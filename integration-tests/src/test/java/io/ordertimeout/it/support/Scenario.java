package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * The surroundings of a service that one test has to itself in an environment that it may share
 * with others: topics, a consumer group, a database, a shop that publishes events, and a reader of
 * the service's own events.
 */
public final class Scenario implements AutoCloseable {

  public static final int PARTITIONS = 3;

  /**
   * The setting that has the service describe its API. Without it, a start costs a tenth less; no
   * other part of the service depends on it.
   */
  public static final String API_DESCRIPTION = "springdoc.api-docs.enabled";

  private final TestEnvironment environment;
  private final TestEnvironment ofServices;
  private final String name;
  private final TopicNames topics;
  private final Database database;
  private final KafkaAdmin kafka;
  private final Shop shop;
  private final Outcomes outcomes;
  private final Collection<Service> services = new ConcurrentLinkedDeque<>();

  private enum Prepared {
    NOTHING,
    TOPICS,
    TOPICS_AND_TABLES
  }

  private Scenario(
      TestEnvironment environment,
      TestEnvironment ofServices,
      Prepared prepared,
      Function<String, TopicNames> topicNames) {
    this.environment = environment;
    this.ofServices = ofServices;
    this.name = namePrefix(LogOwnership.current()) + UUID.randomUUID().toString().substring(0, 8);
    this.topics = topicNames.apply(name);
    this.database =
        prepared == Prepared.TOPICS_AND_TABLES
            ? Database.create(environment, name)
            : Database.createEmpty(environment, name);
    this.kafka = new KafkaAdmin(environment.bootstrapServers());
    boolean hasTopics = prepared != Prepared.NOTHING;
    if (hasTopics) {
      createTopics();
    }
    this.shop = Shop.open(environment, topics);
    this.outcomes = Outcomes.watch(environment, topics, hasTopics ? outputs() : List.of());
  }

  /** What the names of a test class's scenarios, and of their log files, begin with. */
  static String namePrefix(String testClass) {
    return "it_" + testClass.toLowerCase(Locale.ROOT) + "_";
  }

  /** A scenario in the shared environment. */
  public static Scenario create() {
    return on(TestEnvironment.shared(), TestEnvironment.shared());
  }

  /** A scenario whose services use other addresses than the test, such as those of a proxy. */
  public static Scenario on(TestEnvironment environment, TestEnvironment ofServices) {
    return new Scenario(environment, ofServices, Prepared.TOPICS_AND_TABLES, TopicNames::of);
  }

  /** A scenario with other names of topics, which contain the name that they are given. */
  public static Scenario withTopics(Function<String, TopicNames> names) {
    return new Scenario(
        TestEnvironment.shared(), TestEnvironment.shared(), Prepared.TOPICS_AND_TABLES, names);
  }

  /** A scenario with all topics that the service can use. */
  public static Scenario withAllTopics() {
    return withAllTopicsOn(TestEnvironment.shared(), TestEnvironment.shared());
  }

  /** A scenario with all topics whose services use other addresses than the test. */
  public static Scenario withAllTopicsOn(TestEnvironment environment, TestEnvironment ofServices) {
    return new Scenario(environment, ofServices, Prepared.TOPICS_AND_TABLES, TopicNames::all);
  }

  /** A scenario that begins without any topics and tables. */
  public static Scenario unprepared() {
    return new Scenario(
        TestEnvironment.shared(), TestEnvironment.shared(), Prepared.NOTHING, TopicNames::of);
  }

  /** A scenario whose tables are those of the version of the service that is started first. */
  public static Scenario withoutTables() {
    return withoutTablesOn(TestEnvironment.shared(), TestEnvironment.shared());
  }

  /** The same, where services use other addresses than the test. */
  public static Scenario withoutTablesOn(TestEnvironment environment, TestEnvironment ofServices) {
    return new Scenario(environment, ofServices, Prepared.TOPICS, TopicNames::of);
  }

  private void createTopics() {
    List<NewTopic> all = new ArrayList<>();
    // With append times, the broker determines what is in time and when an event was published.
    Stream.concat(topics.inputs().stream(), topics.outputs().stream())
        .forEach(
            topic ->
                all.add(
                    newTopic(topic)
                        .configs(
                            Map.of(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime"))));
    topics
        .deadLetters()
        .forEach(
            letters ->
                all.add(
                    newTopic(letters)
                        .configs(Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, "2097152"))));
    kafka.createTopics(all);
  }

  /** With as many replicas as is the brokers' default. */
  private static NewTopic newTopic(String topic) {
    return new NewTopic(topic, Optional.of(PARTITIONS), Optional.empty());
  }

  /** The administration of the scenario's Kafka. */
  public KafkaAdmin kafka() {
    return kafka;
  }

  /** The ids of the service's consumers in their first group; a new consumer gets a new id. */
  public Set<String> groupMembers() {
    return kafka.members(name);
  }

  /** The numbers of partitions of the scenario's topics, as far as they exist. */
  public Map<String, Integer> partitionCounts() {
    return kafka.partitionCounts(name);
  }

  /** Publishes a created order in the given partition; returns when it is in Kafka. */
  public void create(String orderId, int partition, Instant deadline) {
    // Created a while ago, so that a slow test never states a deadline before the creation.
    create(orderId, partition, deadline, deadline.minus(Duration.ofMinutes(15)));
  }

  /** Publishes a created order with a stated time of creation. */
  public void create(String orderId, int partition, Instant deadline, Instant createdAt) {
    Map<String, String> event =
        Map.of("orderId", orderId, "payBy", deadline.toString(), "createdAt", createdAt.toString());
    Shop.await(
        shop.send(
            new ProducerRecord<>(
                topics.created(), partition, Shop.utf8(orderId), Shop.json(event))));
  }

  /** Publishes an order that is due in an hour, and waits until the service has stored it. */
  public void createPending(String orderId, int partition) {
    Instant now = in(Duration.ZERO);
    create(orderId, partition, now.plus(Duration.ofHours(1)), now.minus(Duration.ofMinutes(1)));
    awaitState(orderId, "PENDING");
  }

  /**
   * Has the service cancel an order that is due on arrival, which proves that expiry is at work.
   */
  public void passDeadline(String orderId, int partition) {
    create(orderId, partition, in(Duration.ZERO));
    outcomes.awaitCancelled(orderId);
  }

  /** Publishes a payment in the given partition; returns when it is in Kafka. */
  public RecordMetadata pay(String orderId, int partition) {
    return Shop.await(shop.send(payment(orderId, partition)));
  }

  /** Publishes a closure in the given partition; returns when it is in Kafka. */
  public RecordMetadata closeOrder(String orderId, int partition) {
    return Shop.await(
        shop.send(
            new ProducerRecord<>(
                topics.closed(),
                partition,
                Shop.utf8(orderId),
                Shop.json(Map.of("orderId", orderId, "reason", "CUSTOMER")))));
  }

  /** A payment in the given partition, for any shop to publish. */
  public ProducerRecord<byte[], byte[]> payment(String orderId, int partition) {
    return new ProducerRecord<>(
        topics.paid(),
        partition,
        Shop.utf8(orderId),
        Shop.json(Map.of("orderId", orderId, "paymentId", "payment-of-" + orderId)));
  }

  /** The time after that duration from now, in whole milliseconds. */
  public static Instant in(Duration duration) {
    return Instant.now().plus(duration).truncatedTo(ChronoUnit.MILLIS);
  }

  /**
   * Starts the service in this JVM, with further settings given as pairs of name and value. It ends
   * with the scenario, if not before.
   */
  public Service startService(String... more) {
    return startService(List.of(), more);
  }

  /** Starts the service in this JVM with interceptors around its beans, the first innermost. */
  public Service startService(List<BeanPostProcessor> interceptors, String... more) {
    Service service = Service.start(settings(more), interceptors);
    services.removeIf(Service::isClosed);
    services.add(service);
    return service;
  }

  /** Starts the service as a process of its own. */
  public ServiceProcess startProcess(String... more) {
    return startProcess(name, List.of("-Xmx256m"), more);
  }

  /** Starts the service as one of several processes, each with a log of its own. */
  public ServiceProcess startProcess(String logName, List<String> jvmOptions, String... more) {
    return ServiceProcess.start(logName, jvmOptions, settings(more));
  }

  /** Starts another version of the service from its jar, as a process of its own. */
  public ServiceProcess startProcess(String logName, Path jar, String... more) {
    return ServiceProcess.startJar(logName, jar, settings(more));
  }

  /** Starts the service as a process of its own whose wall clock the test sets. */
  public ServiceProcess startProcess(String logName, ShiftedClock clock, String... more) {
    return ServiceProcess.startCommand(logName, clock.service(List.of("-Xmx256m")), settings(more));
  }

  /** The settings of a service of this scenario, with further ones given as pairs. */
  public Map<String, String> settings(String... more) {
    Map<String, String> settings = new LinkedHashMap<>(topics.settings());
    settings.put("spring.datasource.url", Database.url(ofServices.jdbcUrl(), name));
    settings.put("spring.datasource.username", ofServices.username());
    settings.put("spring.datasource.password", ofServices.password());
    settings.put("spring.datasource.hikari.maximum-pool-size", "8");
    settings.put("spring.kafka.bootstrap-servers", ofServices.bootstrapServers());
    settings.put("server.address", "127.0.0.1");
    settings.put("server.port", "0");
    settings.put("management.server.address", "127.0.0.1");
    settings.put("management.server.port", "0");
    settings.put("order-timeout.intake.group-id", name);
    settings.put("order-timeout.access.operator-password", Http.OPERATOR_PASSWORD);
    settings.put("order-timeout.access.viewer-password", Http.VIEWER_PASSWORD);
    settings.put(API_DESCRIPTION, "false");
    for (int i = 0; i < more.length; i += 2) {
      settings.put(more[i], more[i + 1]);
    }
    return settings;
  }

  public String name() {
    return name;
  }

  public TopicNames topics() {
    return topics;
  }

  public Database database() {
    return database;
  }

  public Shop shop() {
    return shop;
  }

  /** A shop that publishes payments in transactions. */
  public Shop transactionalShop() {
    return transactionalShop(name);
  }

  /** A transactional shop that aborts open transactions of predecessors with the same id. */
  public Shop transactionalShop(String id) {
    return transactionalShop(id, Duration.ofMinutes(1));
  }

  /** A transactional shop whose transactions Kafka aborts after that time. */
  public Shop transactionalShop(String id, Duration timeout) {
    return Shop.transactional(environment, topics, id, timeout);
  }

  /** A shop that compresses its records. */
  public Shop compressingShop(String codec) {
    return Shop.compressing(environment, topics, codec);
  }

  /** A shop that waits for Kafka without limit. */
  public Shop patientShop() {
    return Shop.patient(environment, topics);
  }

  public Outcomes outcomes() {
    return outcomes;
  }

  /** Waits until Postgres's clock has passed the time. */
  public void awaitPast(Instant time) {
    await("Postgres's clock").until(() -> database.now().isAfter(time));
  }

  public void awaitState(String orderId, String state) {
    await(orderId + " " + state).until(() -> state.equals(database.state(orderId)));
  }

  /**
   * Waits until all input is committed, the outbox is empty and all output is read. After that,
   * only deadlines and further input cause events.
   */
  public void awaitQuiet() {
    Map<TopicPartition, Long> ends = inputEnds();
    await("offsets").until(() -> committed(ends));
    await("outbox").until(() -> database.unpublished() == 0);
    Map<TopicPartition, Long> published = kafka.ends(outputs());
    await("outcomes").until(() -> outcomes.hasRead(published));
  }

  /** Waits until no order is pending, and then as {@link #awaitQuiet}. */
  public void awaitAllDecided() {
    Map<TopicPartition, Long> ends = inputEnds();
    await("offsets").until(() -> committed(ends));
    await("decisions").until(() -> database.pending() == 0);
    awaitQuiet();
  }

  /** {@code host:port} of the brokers, as the test reaches them. */
  public String bootstrapServers() {
    return environment.bootstrapServers();
  }

  /** Whether the service has committed all records below those offsets. */
  public boolean committed(Map<TopicPartition, Long> ends) {
    return kafka.committed(groupId(), ends);
  }

  /** How many records below those offsets the service has not committed. */
  public long uncommitted(Map<TopicPartition, Long> ends) {
    return kafka.uncommitted(groupId(), ends);
  }

  /** The consumer group of the services, which leave a group whose coordinator does not work. */
  public String groupId() {
    long generation = groupGeneration();
    return generation == 1 ? name : name + ".g" + generation;
  }

  /** How many consumer groups the services have used. */
  public long groupGeneration() {
    if (database.count("select count(*) from pg_tables where tablename = 'order_deadline'") == 0) {
      return 1;
    }
    return database.count(
        "select coalesce(max(generation), 1) from consumer_group_generation where group_id = ?",
        name);
  }

  /** The end offsets of the input topics. */
  public Map<TopicPartition, Long> inputEnds() {
    return kafka.ends(partitions(topics.inputs()));
  }

  private Collection<TopicPartition> outputs() {
    return partitions(outputTopics());
  }

  private List<String> outputTopics() {
    List<String> names = new ArrayList<>(topics.deadLetters());
    names.addAll(topics.outputs());
    return names;
  }

  /** The partitions of all input and output topics. */
  public List<TopicPartition> allPartitions() {
    return partitions(Stream.concat(topics.inputs().stream(), outputTopics().stream()).toList());
  }

  /** The partitions of topics. */
  public static List<TopicPartition> partitions(Collection<String> names) {
    return names.stream()
        .flatMap(
            topic -> IntStream.range(0, PARTITIONS).mapToObj(p -> new TopicPartition(topic, p)))
        .toList();
  }

  @Override
  public void close() {
    services.forEach(Service::close);
    outcomes.close();
    shop.close();
    kafka.close();
    database.drop();
  }
}
