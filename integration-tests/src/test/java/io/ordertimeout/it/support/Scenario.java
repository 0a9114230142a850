package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * What a test has to itself on the shared platform: topics, a consumer group, a database; a shop
 * that writes and a reader of what comes out.
 */
public final class Scenario implements AutoCloseable {

  public static final int PARTITIONS = 3;

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final TestEnvironment platform;
  private final TestEnvironment ofServices;
  private final String name;
  private final TopicNames topics;
  private final Database database;
  private final Admin admin;
  private final Shop shop;
  private final Outcomes outcomes;

  private Scenario(TestEnvironment platform, TestEnvironment ofServices, boolean prepared) {
    this.platform = platform;
    this.ofServices = ofServices;
    this.name = "it_" + UUID.randomUUID().toString().replace("-", "");
    this.topics = TopicNames.of(name);
    this.database =
        prepared ? Database.create(platform, name) : Database.createEmpty(platform, name);
    this.admin =
        Admin.create(
            Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, platform.bootstrapServers()));
    if (prepared) {
      createTopics();
    }
    this.shop = Shop.open(platform, topics);
    this.outcomes = Outcomes.watch(platform, topics, prepared ? outputs() : List.of());
  }

  public static Scenario create() {
    return on(TestEnvironment.shared(), TestEnvironment.shared());
  }

  /** A stage to which the services come by other addresses than the test. */
  public static Scenario on(TestEnvironment platform, TestEnvironment ofServices) {
    return new Scenario(platform, ofServices, true);
  }

  /** A scenario that begins without any topics and tables. */
  public static Scenario unprepared() {
    return new Scenario(TestEnvironment.shared(), TestEnvironment.shared(), false);
  }

  private void createTopics() {
    List<NewTopic> all = new ArrayList<>();
    // Append times, so that "in time" and "published at" are the broker's word.
    Stream.concat(topics.inputs().stream(), topics.outputs().stream())
        .forEach(
            topic ->
                all.add(
                    new NewTopic(topic, PARTITIONS, (short) 1)
                        .configs(
                            Map.of(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime"))));
    topics
        .deadLetters()
        .forEach(
            letters ->
                all.add(
                    new NewTopic(letters, PARTITIONS, (short) 1)
                        .configs(Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, "2097152"))));
    createTopics(all);
  }

  public void createTopics(Collection<NewTopic> newTopics) {
    get(admin.createTopics(newTopics).all());
    // The controller knows them; the broker learns of them a little later.
    List<String> names = newTopics.stream().map(NewTopic::name).toList();
    await("the topics")
        .atMost(PATIENCE)
        .ignoreExceptions()
        .until(() -> get(admin.describeTopics(names).allTopicNames()).size() == names.size());
  }

  /** The partitions of those of the stage's topics that exist, by topic. */
  public Map<String, Integer> partitionCounts() {
    Set<String> existing = get(admin.listTopics().names());
    List<String> own = existing.stream().filter(topic -> topic.startsWith(name)).toList();
    return get(admin.describeTopics(own).allTopicNames()).entrySet().stream()
        .collect(
            Collectors.toMap(
                Map.Entry::getKey, description -> description.getValue().partitions().size()));
  }

  /** Kafka as its operator sees it. */
  public Admin admin() {
    return admin;
  }

  /** Publishes a created order in a partition of its own choice; returns when it is in Kafka. */
  public void create(String orderId, int partition, Instant deadline) {
    // Created a while ago, so that a slow test does not state deadlines before creations.
    create(orderId, partition, deadline, deadline.minus(Duration.ofMinutes(15)));
  }

  /** The same with a stated time of creation. */
  public void create(String orderId, int partition, Instant deadline, Instant createdAt) {
    Map<String, String> event =
        Map.of("orderId", orderId, "payBy", deadline.toString(), "createdAt", createdAt.toString());
    Shop.await(
        shop.send(
            new ProducerRecord<>(
                topics.created(), partition, Shop.utf8(orderId), Shop.json(event))));
  }

  /** Publishes a payment in a partition of its own choice; returns when it is in Kafka. */
  public RecordMetadata pay(String orderId, int partition) {
    return Shop.await(shop.send(payment(orderId, partition)));
  }

  /** A payment in a partition of its own choice, for whichever shop. */
  public ProducerRecord<byte[], byte[]> payment(String orderId, int partition) {
    return new ProducerRecord<>(
        topics.paid(),
        partition,
        Shop.utf8(orderId),
        Shop.json(Map.of("orderId", orderId, "paymentId", "payment-of-" + orderId)));
  }

  /** Some whole milliseconds from now. */
  public static Instant in(Duration duration) {
    return Instant.now().truncatedTo(ChronoUnit.MILLIS).plus(duration);
  }

  /** The service in this process, with more settings given as pairs of name and value. */
  public Service startService(String... more) {
    return Service.start(settings(more));
  }

  /** The service in this process with something else under it. */
  public Service startService(List<BeanPostProcessor> seams, String... more) {
    return Service.start(settings(more), seams);
  }

  /** The service as a process of its own. */
  public ServiceProcess startProcess(String... more) {
    return startProcess(name, List.of("-Xmx256m"), more);
  }

  /** The service as one of several processes, each with a log of its own. */
  public ServiceProcess startProcess(String logName, List<String> jvmOptions, String... more) {
    return ServiceProcess.start(logName, jvmOptions, settings(more));
  }

  /** What makes the service one of this stage, with more settings given as pairs. */
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

  /** A shop whose payments stand in a transaction. */
  public Shop transactionalShop() {
    return transactionalShop(name);
  }

  /** A shop whose payments stand in a transaction, and which ends those of its predecessor. */
  public Shop transactionalShop(String id) {
    return transactionalShop(id, Duration.ofMinutes(1));
  }

  /** The same, with transactions that Kafka aborts if they are not ended after that long. */
  public Shop transactionalShop(String id, Duration timeout) {
    return Shop.transactional(platform, topics, id, timeout);
  }

  /** A shop whose records are compressed. */
  public Shop compressingShop(String codec) {
    return Shop.compressing(platform, topics, codec);
  }

  /** A shop that waits for Kafka as long as it takes. */
  public Shop patientShop() {
    return Shop.patient(platform, topics);
  }

  public Outcomes outcomes() {
    return outcomes;
  }

  /** Waits until Postgres's clock has passed the time. */
  public void awaitPast(Instant time) {
    await("Postgres's clock").atMost(PATIENCE).until(() -> database.now().isAfter(time));
  }

  public void awaitState(String orderId, String state) {
    await(orderId + " " + state)
        .atMost(PATIENCE)
        .until(() -> state.equals(database.state(orderId)));
  }

  /**
   * Waits until everything in the input topics is committed, nothing waits in the outbox, and all
   * that was published is read. What has not come out by then is not going to, but for deadlines.
   */
  public void awaitQuiet() {
    Map<TopicPartition, Long> ends = inputEnds();
    await("offsets").atMost(PATIENCE).until(() -> committed(ends));
    await("outbox").atMost(PATIENCE).until(() -> database.outboxRows() == 0);
    Map<TopicPartition, Long> published = ends(outputs());
    await("outcomes").atMost(PATIENCE).until(() -> outcomes.hasRead(published));
  }

  /** Waits until no order is pending, and then for quiet. */
  public void awaitAllDecided() {
    Map<TopicPartition, Long> ends = inputEnds();
    await("offsets").atMost(PATIENCE).until(() -> committed(ends));
    await("decisions").atMost(PATIENCE).until(() -> database.pending() == 0);
    awaitQuiet();
  }

  /** {@code host:port} of the broker, as the test reaches it. */
  public String bootstrapServers() {
    return platform.bootstrapServers();
  }

  /** Whether the service has committed everything below those offsets. */
  public boolean committed(Map<TopicPartition, Long> ends) {
    Map<TopicPartition, OffsetAndMetadata> committed =
        get(admin.listConsumerGroupOffsets(name).partitionsToOffsetAndMetadata());
    return ends.entrySet().stream()
        .allMatch(
            end -> {
              OffsetAndMetadata offset = committed.get(end.getKey());
              return offset != null && offset.offset() >= end.getValue();
            });
  }

  /** Where the input topics end. */
  public Map<TopicPartition, Long> inputEnds() {
    return ends(partitions(topics.inputs()));
  }

  /** Where partitions end. */
  public Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions) {
    return get(
            admin
                .listOffsets(
                    partitions.stream()
                        .collect(Collectors.toMap(Function.identity(), p -> OffsetSpec.latest())))
                .all())
        .entrySet()
        .stream()
        .collect(Collectors.toMap(Map.Entry::getKey, end -> offset(end.getValue())));
  }

  private static long offset(ListOffsetsResultInfo info) {
    return info.offset();
  }

  private Collection<TopicPartition> outputs() {
    return partitions(outputTopics());
  }

  private List<String> outputTopics() {
    List<String> names = new ArrayList<>(topics.deadLetters());
    names.addAll(topics.outputs());
    return names;
  }

  /** Those of all topics, read and written. */
  public List<TopicPartition> allPartitions() {
    return partitions(Stream.concat(topics.inputs().stream(), outputTopics().stream()).toList());
  }

  private static List<TopicPartition> partitions(Collection<String> names) {
    return names.stream()
        .flatMap(
            topic -> IntStream.range(0, PARTITIONS).mapToObj(p -> new TopicPartition(topic, p)))
        .toList();
  }

  /** Waits for an answer of Kafka. */
  public static <T> T get(KafkaFuture<T> answer) {
    try {
      return answer.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("Kafka refused", e.getCause());
    }
  }

  @Override
  public void close() {
    outcomes.close();
    shop.close();
    admin.close();
    database.drop();
  }
}
