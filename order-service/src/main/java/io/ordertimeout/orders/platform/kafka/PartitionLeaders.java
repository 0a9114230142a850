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
 * Which partitions have a leader now: of the others nobody can tell where they begin and end, and
 * asking means waiting until a time-out. Thread-safe.
 */
@Component
public class PartitionLeaders {

  private static final DescribeTopicsOptions BRIEFLY =
      new DescribeTopicsOptions().timeoutMs(10_000);

  private final Admin admin;

  PartitionLeaders(Admin admin) {
    this.admin = admin;
  }

  /** Those of the partitions that have a leader. */
  public Set<TopicPartition> led(Collection<TopicPartition> partitions)
      throws InterruptedException {
    Set<String> names =
        partitions.stream().map(TopicPartition::topic).collect(Collectors.toUnmodifiableSet());
    Map<String, TopicDescription> topics;
    try {
      topics = admin.describeTopics(names, BRIEFLY).allTopicNames().get();
    } catch (ExecutionException e) {
      throw new KafkaException("leaders could not be looked up", e.getCause());
    }
    Set<TopicPartition> led =
        topics.values().stream()
            .flatMap(
                topic ->
                    topic.partitions().stream()
                        .filter(partition -> partition.leader() != null)
                        .map(partition -> new TopicPartition(topic.name(), partition.partition())))
            .collect(Collectors.toSet());
    led.retainAll(partitions);
    return led;
  }
}
