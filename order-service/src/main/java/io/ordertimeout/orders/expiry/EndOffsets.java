package io.ordertimeout.orders.expiry;

import io.ordertimeout.orders.InputTopics;
import io.ordertimeout.orders.OrderTimeoutProperties;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.springframework.stereotype.Component;

/**
 * Asks Kafka where the payments and closings of shards end, and in the same breath whether the
 * topics are still those that the intake reads: a partition that was added meanwhile may hold the
 * payment that counts. Thread-safe.
 */
@Component
class EndOffsets {

  private static final int TIMEOUT_MILLIS = 10_000;

  // Not the end of the committed: a payment in an open transaction was appended too, and its order
  // waits until the transaction has ended, one way or the other.
  private static final ListOffsetsOptions APPENDED =
      new ListOffsetsOptions(IsolationLevel.READ_UNCOMMITTED).timeoutMs(TIMEOUT_MILLIS);

  private static final DescribeTopicsOptions BRIEFLY =
      new DescribeTopicsOptions().timeoutMs(TIMEOUT_MILLIS);

  private final Admin admin;
  private final InputTopics inputTopics;
  private final Collection<String> inputs;
  private final List<String> settling;
  private final boolean always;

  EndOffsets(Admin admin, InputTopics inputTopics, OrderTimeoutProperties properties) {
    this.admin = admin;
    this.inputTopics = inputTopics;
    this.inputs = properties.topics().inputs();
    this.settling = List.of(properties.topics().paid(), properties.topics().closed());
    this.always = properties.expiry().watermarkScope() == OrderTimeoutProperties.WatermarkScope.ALL;
  }

  /** Whether the ends of all partitions count for each shard. */
  boolean reachAcrossShards() {
    InputTopics.Layout layout = inputTopics.layout();
    return always || (layout != null && layout.isMixed());
  }

  /**
   * The end offsets by shard and partition; a shard is absent if Kafka did not tell all of its.
   *
   * @throws KafkaException if Kafka told nothing, or the topics are not what they were
   */
  Map<Integer, Map<TopicPartition, Long>> of(Collection<Integer> shards)
      throws InterruptedException {
    InputTopics.Layout layout = inputTopics.layout();
    if (layout == null) {
      throw new KafkaException("the input topics have changed and are not checked yet");
    }
    boolean across = always || layout.isMixed();
    Collection<Integer> numbers =
        across ? IntStream.range(0, layout.partitions()).boxed().toList() : shards;
    DescribeTopicsResult topics = admin.describeTopics(inputs, BRIEFLY);
    ListOffsetsResult offsets =
        admin.listOffsets(
            partitions(numbers)
                .collect(Collectors.toMap(Function.identity(), p -> OffsetSpec.latest())),
            APPENDED);
    requireUnchanged(layout, topics);
    Map<Integer, Map<TopicPartition, Long>> ends = new HashMap<>();
    KafkaException failure = null;
    for (Integer shard : shards) {
      try {
        ends.put(shard, told(partitions(across ? numbers : List.of(shard)).toList(), offsets));
      } catch (ExecutionException e) {
        failure =
            new KafkaException("end offsets of shard " + shard + " are unknown", e.getCause());
      }
    }
    if (ends.isEmpty() && failure != null) {
      throw failure;
    }
    return ends;
  }

  private Stream<TopicPartition> partitions(Collection<Integer> numbers) {
    return numbers.stream()
        .flatMap(number -> settling.stream().map(topic -> new TopicPartition(topic, number)));
  }

  private static Map<TopicPartition, Long> told(
      List<TopicPartition> partitions, ListOffsetsResult offsets)
      throws InterruptedException, ExecutionException {
    Map<TopicPartition, Long> ends = new HashMap<>();
    for (TopicPartition partition : partitions) {
      ends.put(partition, offsets.partitionResult(partition).get().offset());
    }
    return ends;
  }

  private void requireUnchanged(InputTopics.Layout layout, DescribeTopicsResult topics)
      throws InterruptedException {
    Map<String, TopicDescription> found;
    try {
      found = topics.allTopicNames().get();
    } catch (ExecutionException e) {
      throw new KafkaException("the input topics could not be looked up", e.getCause());
    }
    for (TopicDescription topic : found.values()) {
      if (topic.partitions().size() != layout.partitions()
          || !topic.topicId().equals(layout.ids().get(topic.name()))) {
        inputTopics.changed(layout);
        throw new KafkaException(
            "topic "
                + topic.name()
                + " was changed: it has "
                + topic.partitions().size()
                + " partitions and the id "
                + topic.topicId()
                + "; it had "
                + layout.partitions()
                + " and "
                + layout.ids().get(topic.name()));
      }
    }
  }
}
