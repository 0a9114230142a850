package io.ordertimeout.orders.position;

import io.ordertimeout.orders.platform.kafka.DefaultPartitioner;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;

/**
 * A server of Postgres that was found to reflect what this service had published before the server
 * began to answer, except for what is in output partitions that could not be read. Immutable.
 *
 * @param identity the identity of the server; empty if none was found
 * @param unread the partitions that could not be read
 * @param partitionCounts the number of partitions of each of their topics that never had another
 *     number
 */
public record ReflectedServer(
    String identity, Collection<TopicPartition> unread, Map<String, Integer> partitionCounts) {

  /** No server was found. */
  public static final ReflectedServer NONE = entirely("");

  /** Creates a copy. */
  public ReflectedServer {
    unread = List.copyOf(unread);
    partitionCounts = Map.copyOf(partitionCounts);
  }

  /** Returns a server that reflects everything. */
  public static ReflectedServer entirely(String identity) {
    return new ReflectedServer(identity, List.of(), Map.of());
  }

  /** Whether that server reflects everything. */
  public boolean isEntire() {
    return unread.isEmpty();
  }

  /**
   * Whether that server reflects all that was published about the order. Kafka's partitioner tells
   * in which partition that is, unless the topic once had another number of them.
   */
  public boolean reflects(String orderId) {
    if (identity.isEmpty()) {
      return false;
    }
    return unread.stream()
        .allMatch(
            partition -> {
              Integer count = partitionCounts.get(partition.topic());
              return count != null
                  && DefaultPartitioner.partition(orderId, count) != partition.partition();
            });
  }

  @Override
  public String toString() {
    return unread.isEmpty()
        ? identity
        : unread.stream()
            .map(TopicPartition::toString)
            .sorted()
            .collect(Collectors.joining(", ", identity + " without ", ""));
  }
}
