package io.ordertimeout.orders.watermark;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.PartitionCounts;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.springframework.stereotype.Component;

/**
 * Asks Kafka where the payments and closures of shards end and, at the same time, whether the
 * topics are still those that the intake reads: a partition that was added meanwhile may contain
 * the payment of a due order. Thread-safe.
 */
@Component
class EndOffsets {

  private static final int TIMEOUT_MILLIS = 10_000;

  // Not the end of the committed records: a payment in an open transaction was appended too, and
  // its order waits until the transaction is committed or aborted.
  private static final ListOffsetsOptions APPENDED =
      new ListOffsetsOptions(IsolationLevel.READ_UNCOMMITTED).timeoutMs(TIMEOUT_MILLIS);

  private static final DescribeTopicsOptions TIMEOUT =
      new DescribeTopicsOptions().timeoutMs(TIMEOUT_MILLIS);

  private final Admin admin;
  private final InputTopics inputTopics;
  private final PartitionCounts partitionCounts;
  private final Collection<String> inputs;
  private final Collection<String> settling;

  EndOffsets(
      Admin admin,
      InputTopics inputTopics,
      PartitionCounts partitionCounts,
      OrderTimeoutProperties properties) {
    this.admin = admin;
    this.inputTopics = inputTopics;
    this.partitionCounts = partitionCounts;
    this.inputs = properties.topics().inputs();
    this.settling = properties.topics().settling();
  }

  /** Returns whether the ends of all partitions count for each shard. */
  boolean reachAcrossShards() {
    return partitionCounts.paymentsMayBeAnywhere();
  }

  /**
   * The layout of the topics, as they were last checked.
   *
   * @throws KafkaException if the topics have changed and have not been checked since
   */
  InputTopics.Layout layout() {
    InputTopics.Layout layout = inputTopics.layout();
    if (layout == null) {
      throw new KafkaException("the input topics have changed and have not been checked since");
    }
    return layout;
  }

  /**
   * Asks for the end offsets of shards, in one request that is answered for each shard separately:
   * a partition without a leader delays no other shard. The answers complete on the client's
   * thread, and fail if the topics no longer have that layout.
   *
   * @param across whether to ask for the ends of all partitions on behalf of each shard
   */
  Map<Integer, CompletableFuture<Map<TopicPartition, Long>>> of(
      Collection<Integer> shards, InputTopics.Layout layout, boolean across) {
    Collection<Integer> numbers =
        across ? IntStream.range(0, layout.partitions()).boxed().toList() : shards;
    CompletionStage<?> unchanged =
        admin
            .describeTopics(inputs, TIMEOUT)
            .allTopicNames()
            .toCompletionStage()
            .thenAccept(topics -> requireUnchanged(layout, topics));
    ListOffsetsResult offsets =
        admin.listOffsets(
            partitions(numbers)
                .collect(Collectors.toMap(Function.identity(), p -> OffsetSpec.latest())),
            APPENDED);
    return shards.stream()
        .collect(
            Collectors.toMap(
                Function.identity(),
                shard ->
                    ends(partitions(across ? numbers : List.of(shard)).toList(), offsets)
                        .thenCombine(unchanged, (ends, checked) -> ends)));
  }

  private Stream<TopicPartition> partitions(Collection<Integer> numbers) {
    return numbers.stream()
        .flatMap(number -> settling.stream().map(topic -> new TopicPartition(topic, number)));
  }

  private static CompletableFuture<Map<TopicPartition, Long>> ends(
      List<TopicPartition> partitions, ListOffsetsResult offsets) {
    Map<TopicPartition, CompletableFuture<Long>> ends =
        partitions.stream()
            .collect(
                Collectors.toMap(
                    Function.identity(),
                    partition ->
                        offsets
                            .partitionResult(partition)
                            .toCompletionStage()
                            .thenApply(ListOffsetsResultInfo::offset)
                            .toCompletableFuture()));
    return CompletableFuture.allOf(ends.values().toArray(CompletableFuture[]::new))
        .thenApply(
            all ->
                ends.entrySet().stream()
                    .collect(Collectors.toMap(Map.Entry::getKey, end -> end.getValue().join())));
  }

  private void requireUnchanged(InputTopics.Layout layout, Map<String, TopicDescription> found) {
    for (TopicDescription topic : found.values()) {
      if (topic.partitions().size() != layout.partitions()
          || !topic.topicId().equals(layout.ids().get(topic.name()))) {
        inputTopics.invalidate(layout);
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
