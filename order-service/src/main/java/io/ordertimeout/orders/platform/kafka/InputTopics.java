package io.ordertimeout.orders.platform.kafka;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The layout of the input topics as of the intake's last check. A component that notices a change
 * invalidates the layout, and the intake repeats the check. Thread-safe.
 */
@Component
public class InputTopics {

  /**
   * The topics' ids and numbers of partitions.
   *
   * @param ids the topics' ids, by name; a topic that is recreated under its old name has a new id
   * @param partitions the number of partitions of each topic
   * @param earlierCounts other numbers of partitions that the topics have had since the first start
   */
  public record Layout(Map<String, Uuid> ids, int partitions, Set<Integer> earlierCounts) {

    /**
     * Whether the number of partitions has ever changed. If so, an order and its payment may be in
     * partitions with different numbers.
     */
    public boolean hasChangedPartitionCount() {
      return !earlierCounts.isEmpty();
    }

    /**
     * The number of shards that orders may have: the greatest number of partitions so far. Topics
     * that were recreated with fewer partitions have none for the last shards.
     */
    public int shards() {
      return earlierCounts.stream().reduce(partitions, Math::max);
    }

    /**
     * The shards that whoever reads a partition serves: the one of that number and, of those
     * without a partition, each whose number leaves that remainder. Every shard belongs to one
     * partition.
     */
    public List<Integer> shardsOf(int partition) {
      return partition >= partitions
          // Added since the last check.
          ? List.of(partition)
          : IntStream.iterate(partition, shard -> shard < shards(), shard -> shard + partitions)
              .boxed()
              .toList();
    }

    /** The partition that a shard belongs to, whose reader serves it; see {@link #shardsOf}. */
    public int partitionOf(int shard) {
      return shard < shards() ? shard % partitions : shard;
    }
  }

  private final AtomicReference<@Nullable Layout> layout = new AtomicReference<>();

  /** The layout; null until the topics are checked, and again once it is invalidated. */
  public @Nullable Layout layout() {
    return layout.get();
  }

  /** Sets the layout that a check has found. */
  void set(Layout found) {
    layout.set(found);
  }

  /** Invalidates a layout that is outdated; a newer one stays. */
  public void invalidate(Layout outdated) {
    layout.compareAndSet(outdated, null);
  }
}
