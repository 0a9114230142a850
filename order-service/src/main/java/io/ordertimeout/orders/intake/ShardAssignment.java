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
  private final Set<TopicPartition> unplaced = new HashSet<>();
  private boolean told;

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

  /** The assigned partitions of which it is not settled yet where to read from. */
  Set<TopicPartition> unplaced() {
    return Set.copyOf(unplaced);
  }

  /** Notes that the consumer was moved to where those are to be read from. */
  void placed(Set<TopicPartition> partitions) {
    unplaced.removeAll(partitions);
  }

  /** Notes that the consumer's positions in those are of no use. */
  void displaced(Set<TopicPartition> partitions) {
    partitions.stream().filter(assigned::contains).forEach(unplaced::add);
  }

  @Override
  public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
    told = true;
    if (partitions.isEmpty()) {
      return;
    }
    assigned.addAll(partitions);
    unplaced.addAll(partitions);
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
    letGo(partitions);
  }

  @Override
  public void onPartitionsLost(Collection<TopicPartition> partitions) {
    if (!partitions.isEmpty()) {
      log.warn(
          "The group has given this instance's partitions away, since it was not heard of for the"
              + " session time-out: {}. What it was about to decide is decided by Postgres",
          partitions);
    }
    letGo(partitions);
  }

  /** Lets go of everything, because the consumer is closed. */
  void end() {
    letGo(Set.copyOf(assigned));
  }

  private void letGo(Collection<TopicPartition> partitions) {
    partitions.forEach(assigned::remove);
    partitions.forEach(unplaced::remove);
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
