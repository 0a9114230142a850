package io.ordertimeout.orders.platform.kafka;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.springframework.stereotype.Component;

/**
 * Looks up which partitions currently have a leader. Asking for the offsets of a partition without
 * a leader would block until the time-out. Thread-safe.
 */
@Component
public class PartitionLeaders {

  private static final DescribeTopicsOptions OPTIONS =
      new DescribeTopicsOptions().timeoutMs(10_000);

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
}
