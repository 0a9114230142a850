package io.ordertimeout.orders.platform.kafka;

import java.util.Collection;
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
   * @param partitions the number of partitions of each topic, which is the number of shards
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
     * The shards whose orders may have been settled by records in the partition.
     *
     * @param across whether the partition of a payment may differ from its order's in any case
     */
    public Collection<Integer> shardsSettledIn(int partition, boolean across) {
      if (!across && !hasChangedPartitionCount()) {
        return List.of(partition);
      }
      int most = earlierCounts.stream().reduce(partitions, Math::max);
      return IntStream.range(0, most).boxed().toList();
    }

    /** Whether the partition was added after the first start, so that every record in it is new. */
    public boolean isAdded(int partition) {
      return earlierCounts.stream().anyMatch(count -> partition >= count);
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
