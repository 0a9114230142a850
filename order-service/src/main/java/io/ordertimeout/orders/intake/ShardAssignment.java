package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.shard.Shards;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions assigned to one consumer, and the shards that it owns as a result: a shard is
 * owned while its partition of every input topic is assigned. Confined to the consumer's thread.
 */
final class ShardAssignment implements ConsumerRebalanceListener {

  private static final Logger log = LoggerFactory.getLogger(ShardAssignment.class);

  private final Set<String> inputs;
  private final Shards shards;
  private final Consumer<Collection<TopicPartition>> beforeRevocation;
  private final Set<TopicPartition> assigned = new HashSet<>();
  private final Map<Integer, Shards.Ownership> owned = new HashMap<>();
  private final Set<TopicPartition> unpositioned = new HashSet<>();
  private boolean received;

  ShardAssignment(
      Set<String> inputs, Shards shards, Consumer<Collection<TopicPartition>> beforeRevocation) {
    this.inputs = inputs;
    this.shards = shards;
    this.beforeRevocation = beforeRevocation;
  }

  /** Whether the consumer has received an assignment from the group, even an empty one. */
  boolean isReceived() {
    return received;
  }

  /** The assigned partitions; a live view for the consumer's thread. */
  Set<TopicPartition> assigned() {
    return assigned;
  }

  /** The assigned partitions whose starting positions are not known yet. */
  Set<TopicPartition> unpositioned() {
    return Set.copyOf(unpositioned);
  }

  /** Records that the consumer was moved to the starting positions of the partitions. */
  void positioned(Set<TopicPartition> partitions) {
    unpositioned.removeAll(partitions);
  }

  /** Records that the consumer's positions in the partitions are invalid. */
  void positionsLost(Set<TopicPartition> partitions) {
    partitions.stream().filter(assigned::contains).forEach(unpositioned::add);
  }

  /**
   * Drops all that is remembered of the shards, because Postgres no longer contains it: their
   * wheels and watermarks are rebuilt, and their partitions are read again from the stored
   * positions.
   */
  void reset(Set<Integer> shards) {
    for (int shard : shards) {
      assigned.stream()
          .filter(partition -> partition.partition() == shard)
          .forEach(unpositioned::add);
      owned.computeIfPresent(shard, (same, ownership) -> this.shards.acquire(shard));
    }
  }

  /** The shards of the assigned partitions. */
  Set<Integer> shards() {
    return shardsOf(assigned);
  }

  @Override
  public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
    received = true;
    if (partitions.isEmpty()) {
      return;
    }
    assigned.addAll(partitions);
    unpositioned.addAll(partitions);
    for (int shard : shardsOf(partitions)) {
      if (isComplete(shard)) {
        owned.computeIfAbsent(shard, shards::acquire);
      } else {
        log.warn(
            "Shard {} is not served yet: its partition is assigned for some of the input topics only."
                + " If this persists, the group's members are configured with different topics",
            shard);
      }
    }
    log.info("This instance owns shards {}", new TreeSet<>(owned.keySet()));
  }

  @Override
  public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
    beforeRevocation.accept(partitions);
    release(partitions);
  }

  @Override
  public void onPartitionsLost(Collection<TopicPartition> partitions) {
    if (!partitions.isEmpty()) {
      log.warn(
          "This instance sent no heartbeat within the session time-out, so the group has reassigned"
              + " its partitions {}. Its pending decisions do no harm: Postgres decides each order"
              + " once",
          partitions);
    }
    release(partitions);
  }

  /** Releases everything, because the consumer is closed. */
  void close() {
    release(Set.copyOf(assigned));
  }

  private void release(Collection<TopicPartition> partitions) {
    partitions.forEach(assigned::remove);
    partitions.forEach(unpositioned::remove);
    for (int shard : shardsOf(partitions)) {
      Shards.Ownership ownership = owned.remove(shard);
      if (ownership != null) {
        shards.release(ownership);
      }
    }
  }

  private boolean isComplete(int shard) {
    return inputs.stream().allMatch(topic -> assigned.contains(new TopicPartition(topic, shard)));
  }

  private static Set<Integer> shardsOf(Collection<TopicPartition> partitions) {
    return partitions.stream().map(TopicPartition::partition).collect(Collectors.toSet());
  }
}
