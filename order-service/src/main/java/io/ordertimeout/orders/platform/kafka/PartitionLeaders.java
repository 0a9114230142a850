package io.ordertimeout.orders.platform.kafka;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.stereotype.Component;

/**
 * Looks up which partitions currently have a leader. Asking for the offsets of a partition without
 * a leader would block until the time-out. Thread-safe.
 */
@Component
public class PartitionLeaders {

  private static final DescribeTopicsOptions OPTIONS =
      new DescribeTopicsOptions().timeoutMs(10_000);

  /**
   * The partitions of a topic.
   *
   * @param count their number; 0 if the topic does not exist
   * @param withLeader those that have a leader
   */
  public record TopicLeaders(int count, Set<Integer> withLeader) {

    /** Whether the topic exists. */
    public boolean exists() {
      return count > 0;
    }

    /** Returns the partition of an order's records. */
    public int partition(String orderId) {
      return DefaultPartitioner.partition(orderId, count);
    }

    /** Returns the partition of records with that key. */
    public int partition(byte[] key) {
      return DefaultPartitioner.partition(key, count);
    }
  }

  private final Admin admin;

  PartitionLeaders(Admin admin) {
    this.admin = admin;
  }

  /** Returns those of the given partitions that have a leader. */
  public Set<TopicPartition> withLeader(Collection<TopicPartition> partitions)
      throws InterruptedException {
    Set<String> names =
        partitions.stream().map(TopicPartition::topic).collect(Collectors.toUnmodifiableSet());
    Map<String, TopicDescription> topics;
    try {
      topics = admin.describeTopics(names, OPTIONS).allTopicNames().get();
    } catch (ExecutionException e) {
      throw new KafkaException("could not look up the leaders of " + names, e.getCause());
    }
    Set<TopicPartition> withLeader =
        topics.values().stream()
            .flatMap(
                topic ->
                    topic.partitions().stream()
                        .filter(partition -> partition.leader() != null)
                        .map(partition -> new TopicPartition(topic.name(), partition.partition())))
            .collect(Collectors.toSet());
    withLeader.retainAll(partitions);
    return withLeader;
  }

  /**
   * Looks up the partitions of a topic. The result completes on the client's thread, and fails if
   * Kafka does not answer.
   */
  public CompletableFuture<TopicLeaders> of(String topic) {
    return admin
        .describeTopics(List.of(topic), OPTIONS)
        .allTopicNames()
        .toCompletionStage()
        .thenApply(topics -> leaders(Objects.requireNonNull(topics.get(topic))))
        .exceptionallyCompose(
            failure ->
                NestedExceptionUtils.getMostSpecificCause(failure)
                        instanceof UnknownTopicOrPartitionException
                    ? CompletableFuture.completedFuture(new TopicLeaders(0, Set.of()))
                    : CompletableFuture.failedFuture(failure))
        .toCompletableFuture();
  }

  private static TopicLeaders leaders(TopicDescription topic) {
    return new TopicLeaders(
        topic.partitions().size(),
        topic.partitions().stream()
            .filter(partition -> partition.leader() != null)
            .map(TopicPartitionInfo::partition)
            .collect(Collectors.toUnmodifiableSet()));
  }
}
