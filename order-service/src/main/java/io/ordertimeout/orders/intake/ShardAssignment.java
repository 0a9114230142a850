package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.platform.kafka.InputTopics;
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
 * owned while its partition of every input topic is assigned and its starting positions are known.
 * A shard whose partition no longer exists belongs to another partition. Confined to the consumer's
 * thread.
 */
final class ShardAssignment implements ConsumerRebalanceListener {

  private static final Logger log = LoggerFactory.getLogger(ShardAssignment.class);

  private final InputTopics.Layout layout;
  private final Set<String> inputs;
  private final String created;
  private final Shards shards;
  private final Consumer<Collection<TopicPartition>> beforeRevocation;
  private final Set<TopicPartition> assigned = new HashSet<>();
  private final Map<Integer, Shards.Ownership> owned = new HashMap<>();
  private final Set<TopicPartition> unpositioned = new HashSet<>();
  private boolean received;

  /**
   * Creates an assignment without partitions.
   *
   * @param layout the topics, which do not change during the life of the consumer
   * @param created the topic of created orders
   */
  ShardAssignment(
      InputTopics.Layout layout,
      Set<String> inputs,
      String created,
      Shards shards,
      Consumer<Collection<TopicPartition>> beforeRevocation) {
    this.layout = layout;
    this.inputs = inputs;
    this.created = created;
    this.shards = shards;
    this.beforeRevocation = beforeRevocation;
  }

  /** The topics that the consumer reads. */
  InputTopics.Layout layout() {
    return layout;
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

  /**
   * Records that the consumer was moved to the starting positions of the partitions, and acquires
   * their shards. An order that another owner stores after these positions were read is read from
   * Kafka, so the wheel, which is filled only now, lacks none. If the position of the creations
   * becomes known later than others, because their partition had no leader, the shard is acquired
   * again for the same reason.
   */
  void positioned(Set<TopicPartition> partitions) {
    unpositioned.removeAll(partitions);
    for (int shard : shardsOf(partitions)) {
      boolean creations =
          partitions.contains(new TopicPartition(created, layout.partitionOf(shard)));
      if (isComplete(shard) && (creations || !owned.containsKey(shard))) {
        owned.put(shard, shards.acquire(shard));
      }
    }
    if (!partitions.isEmpty()) {
      log.info("This instance owns shards {}", new TreeSet<>(owned.keySet()));
    }
  }

  /** Records that the consumer's positions in the partitions are invalid. */
  void positionsLost(Set<TopicPartition> partitions) {
    partitions.stream().filter(assigned::contains).forEach(unpositioned::add);
  }

  /**
   * Drops all that is remembered of the partitions with those numbers and of their shards, because
   * Postgres no longer contains it: the shards are acquired again once the stored positions have
   * been read, from which the partitions are read again.
   */
  void reset(Set<Integer> numbers) {
    Set<TopicPartition> lost =
        assigned.stream()
            .filter(partition -> numbers.contains(partition.partition()))
            .collect(Collectors.toSet());
    unpositioned.addAll(lost);
    releaseShards(lost);
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
      if (!isComplete(shard)) {
        log.warn(
            "Shard {} is not served yet: its partition is assigned for some of the input topics only."
                + " If this persists, the group's members are configured with different topics",
            shard);
      }
    }
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
    releaseShards(partitions);
  }

  private void releaseShards(Collection<TopicPartition> partitions) {
    for (int shard : shardsOf(partitions)) {
      Shards.Ownership ownership = owned.remove(shard);
      if (ownership != null) {
        shards.release(ownership);
      }
    }
  }

  private boolean isComplete(int shard) {
    int partition = layout.partitionOf(shard);
    return inputs.stream()
        .allMatch(topic -> assigned.contains(new TopicPartition(topic, partition)));
  }

  private Set<Integer> shardsOf(Collection<TopicPartition> partitions) {
    return partitions.stream()
        .flatMap(partition -> layout.shardsOf(partition.partition()).stream())
        .collect(Collectors.toSet());
  }
}
