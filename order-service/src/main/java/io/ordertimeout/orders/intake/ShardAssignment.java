package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.shard.Shards;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns assigned partitions into owned shards: a shard is owned while its partition of every input
 * topic is assigned to this consumer. Called on the consumer's thread alone.
 */
final class ShardAssignment implements ConsumerRebalanceListener {

  private static final Logger log = LoggerFactory.getLogger(ShardAssignment.class);

  private final Set<String> inputs;
  private final Shards shards;
  private final Consumer<Collection<TopicPartition>> beforeRevocation;
  private final Set<TopicPartition> assigned = new HashSet<>();
  private final Set<Integer> owned = new HashSet<>();
  private boolean told;
  private boolean fresh;

  ShardAssignment(
      Set<String> inputs, Shards shards, Consumer<Collection<TopicPartition>> beforeRevocation) {
    this.inputs = inputs;
    this.shards = shards;
    this.beforeRevocation = beforeRevocation;
  }

  /** Whether the group has told this consumer its share, be it none. */
  boolean isTold() {
    return told;
  }

  /** Whether partitions were assigned whose starting offsets are not committed yet. */
  boolean isFresh() {
    return fresh;
  }

  void startingOffsetsCommitted() {
    fresh = false;
  }

  @Override
  public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
    told = true;
    if (partitions.isEmpty()) {
      return;
    }
    assigned.addAll(partitions);
    fresh = true;
    for (int shard : numbers(partitions)) {
      if (complete(shard)) {
        if (owned.add(shard)) {
          shards.take(shard);
        }
      } else {
        log.warn(
            "Shard {} is not watched yet: its partition is assigned of some input topics only. If"
                + " it stays so, the members of the group are not configured alike",
            shard);
      }
    }
    log.info("Owns shards {}", new TreeSet<>(owned));
  }

  @Override
  public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
    beforeRevocation.accept(partitions);
    onPartitionsLost(partitions);
  }

  @Override
  public void onPartitionsLost(Collection<TopicPartition> partitions) {
    partitions.forEach(assigned::remove);
    for (int shard : numbers(partitions)) {
      if (owned.remove(shard)) {
        shards.release(shard);
      }
    }
  }

  private boolean complete(int shard) {
    return inputs.stream().allMatch(topic -> assigned.contains(new TopicPartition(topic, shard)));
  }

  private static Set<Integer> numbers(Collection<TopicPartition> partitions) {
    return partitions.stream().map(TopicPartition::partition).collect(Collectors.toSet());
  }
}
