package io.ordertimeout.orders.platform.kafka;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The input topics as they were when the intake last checked them. Whoever sees that they have
 * changed since says so, and the intake checks them anew. Thread-safe.
 */
@Component
public class InputTopics {

  /**
   * What was found.
   *
   * @param ids the topics' ids, by name; a topic made anew under its old name has another
   * @param partitions partitions of each of them: the number of shards
   * @param earlier the other numbers of partitions that they had since the first start
   */
  public record Layout(Map<String, Uuid> ids, int partitions, Set<Integer> earlier) {

    /** Whether an order and its payment may be in partitions of different numbers. */
    public boolean isMixed() {
      return !earlier.isEmpty();
    }

    /** Whether that partition was added to topics in use, so that everything in it is new. */
    public boolean isAdded(int partition) {
      return earlier.stream().anyMatch(count -> partition >= count);
    }
  }

  private final AtomicReference<@Nullable Layout> layout = new AtomicReference<>();

  /** The layout, or null while it is not known. */
  public @Nullable Layout layout() {
    return layout.get();
  }

  /** Sets what was found. */
  public void checked(Layout found) {
    layout.set(found);
  }

  /** Says that a layout holds no more; a newer one stays. */
  public void changed(Layout outdated) {
    layout.compareAndSet(outdated, null);
  }
}
