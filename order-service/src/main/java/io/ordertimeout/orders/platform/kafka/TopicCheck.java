package io.ordertimeout.orders.platform.kafka;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.CreateTopicsResult;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * The check that all topics exist and the input topics are co-partitioned: shard {@code p} is
 * partition {@code p} of each input topic, so all of them need the same number of partitions. Its
 * result is the layout of the input topics. Thread-safe.
 */
@Component
public class TopicCheck {

  private static final Logger log = LoggerFactory.getLogger(TopicCheck.class);
  private static final int TIMEOUT_MILLIS = 10_000;

  /** Room for the largest record that a broker accepts by default, its headers and the error. */
  private static final String DEAD_LETTER_BYTES = Integer.toString(2 * 1024 * 1024);

  private final Admin admin;
  private final OrderTimeoutProperties.Topics topics;
  private final InputTopics inputTopics;
  private final PartitionCounts partitionCounts;

  TopicCheck(
      Admin admin,
      OrderTimeoutProperties properties,
      InputTopics inputTopics,
      PartitionCounts partitionCounts) {
    this.admin = admin;
    this.topics = properties.topics();
    this.inputTopics = inputTopics;
    this.partitionCounts = partitionCounts;
  }

  /**
   * Checks the topics unless the layout is known, and creates missing ones if that is configured.
   *
   * @throws UnusableTopicsException if topics are missing or not co-partitioned
   * @throws KafkaException if Kafka did not answer
   * @throws org.springframework.dao.DataAccessException if Postgres did not answer
   */
  public synchronized void check() throws InterruptedException {
    if (inputTopics.layout() != null) {
      return;
    }
    Set<String> required = required();
    Map<String, TopicDescription> existing = describe(required);
    Set<String> missing = new TreeSet<>(required);
    missing.removeAll(existing.keySet());
    if (!missing.isEmpty() && !topics.createMissing()) {
      throw new UnusableTopicsException(
          "These topics do not exist: " + String.join(", ", missing),
          "Create them, the input topics with the same number of partitions each, or set"
              + " order-timeout.topics.create-missing=true.");
    }
    requireSamePartitions(existing);
    if (!missing.isEmpty()) {
      create(missing, existing);
      // Somebody else may have created them first, with other numbers of partitions.
      existing = describe(required);
      awaitLeaders(missing, existing);
      requireSamePartitions(existing);
    }
    inputTopics.set(layout(existing));
  }

  private InputTopics.Layout layout(Map<String, TopicDescription> existing) {
    Map<String, Uuid> ids =
        topics.inputs().stream()
            .collect(Collectors.toMap(name -> name, name -> require(existing, name).topicId()));
    int count = require(existing, topics.created()).partitions().size();
    Set<Integer> earlierCounts = partitionCounts.record(count);
    InputTopics.Layout layout = new InputTopics.Layout(ids, count, earlierCounts);
    if (layout.hasChangedPartitionCount()) {
      log.warn(
          "The input topics have {} partitions and had {} before. An order and its payment may be in"
              + " partitions with different numbers, so orders are cancelled only once the payments"
              + " of all partitions are read",
          count,
          earlierCounts);
    }
    if (layout.shards() > count) {
      log.warn(
          "The shards from {} to {} have no partition any more; the owner of partition n serves each"
              + " whose number modulo {} is n",
          count,
          layout.shards() - 1,
          count);
    }
    return layout;
  }

  private static TopicDescription require(Map<String, TopicDescription> existing, String name) {
    TopicDescription topic = existing.get(name);
    if (topic == null) {
      throw new KafkaException("topic " + name + " is not known to all brokers yet");
    }
    return topic;
  }

  private Set<String> required() {
    Set<String> names = new TreeSet<>(topics.inputs());
    topics.inputs().forEach(input -> names.add(topics.deadLetters(input)));
    names.addAll(topics.outputs());
    return names;
  }

  private Map<String, TopicDescription> describe(Set<String> names) throws InterruptedException {
    DescribeTopicsResult result =
        admin.describeTopics(names, new DescribeTopicsOptions().timeoutMs(TIMEOUT_MILLIS));
    Map<String, TopicDescription> existing = new HashMap<>();
    for (Map.Entry<String, KafkaFuture<TopicDescription>> topic :
        result.topicNameValues().entrySet()) {
      try {
        existing.put(topic.getKey(), topic.getValue().get());
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
          throw new KafkaException("could not describe topic " + topic.getKey(), e.getCause());
        }
      }
    }
    return existing;
  }

  private void create(Set<String> missing, Map<String, TopicDescription> existing)
      throws InterruptedException {
    // A missing input topic must match the existing ones.
    int count =
        topics.inputs().stream()
            .map(existing::get)
            .filter(Objects::nonNull)
            .map(topic -> topic.partitions().size())
            .findFirst()
            .orElse(topics.partitions());
    Optional<Short> replicas =
        topics.replicationFactor() < 1 ? Optional.empty() : Optional.of(topics.replicationFactor());
    Collection<String> deadLetters = topics.inputs().stream().map(topics::deadLetters).toList();
    List<NewTopic> topicsToCreate =
        missing.stream()
            .map(
                name -> {
                  NewTopic topic = new NewTopic(name, Optional.of(count), replicas);
                  return deadLetters.contains(name)
                      ? topic.configs(
                          Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, DEAD_LETTER_BYTES))
                      : topic;
                })
            .toList();
    CreateTopicsResult result =
        admin.createTopics(topicsToCreate, new CreateTopicsOptions().timeoutMs(TIMEOUT_MILLIS));
    for (Map.Entry<String, KafkaFuture<Void>> topic : result.values().entrySet()) {
      try {
        topic.getValue().get();
        log.info("Created topic {} with {} partitions", topic.getKey(), count);
      } catch (ExecutionException e) {
        // Another instance may have created it first.
        if (!(e.getCause() instanceof TopicExistsException)) {
          throw new KafkaException("could not create topic " + topic.getKey(), e.getCause());
        }
      }
    }
  }

  // A broker can know a partition before it becomes its leader. If an idempotent producer writes in
  // between, its first batches may be rejected and later ones accepted, and it then stalls on the
  // gap in the sequence.
  private void awaitLeaders(Set<String> created, Map<String, TopicDescription> existing)
      throws InterruptedException {
    Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
    for (String name : created) {
      int count = require(existing, name).partitions().size();
      for (int partition = 0; partition < count; partition++) {
        ends.put(new TopicPartition(name, partition), OffsetSpec.latest());
      }
    }
    try {
      admin.listOffsets(ends, new ListOffsetsOptions().timeoutMs(TIMEOUT_MILLIS)).all().get();
    } catch (ExecutionException e) {
      throw new KafkaException("the created topics have no leaders yet: " + created, e.getCause());
    }
  }

  private void requireSamePartitions(Map<String, TopicDescription> existing) {
    Map<String, Integer> inputs = new TreeMap<>();
    for (String name : topics.inputs()) {
      TopicDescription topic = existing.get(name);
      if (topic != null) {
        inputs.put(name, topic.partitions().size());
      }
    }
    if (Set.copyOf(inputs.values()).size() > 1) {
      throw new UnusableTopicsException(
          "The input topics have different numbers of partitions: " + inputs,
          "Give them the same number: all events of an order must be in the partition with the same"
              + " number of each topic, or a payment could be missed.");
    }
  }
}
