package io.ordertimeout.orders.readback;

import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.ReadBackState;
import io.ordertimeout.orders.platform.kafka.StoredPositions.Stored;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.WakeupException;

/**
 * Reads the output topics on from the positions up to which Postgres reflects them. Confined to one
 * thread, except for {@link #wakeUp}.
 */
final class PublishedTopicReader implements AutoCloseable {

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

  private final Consumer<byte[], byte[]> consumer;
  private final InputTopics.Layout layout;
  private final ReadBackState.State state;
  private final Map<TopicPartition, Stored> positions;
  private final Map<TopicPartition, Long> ends;
  private final Map<String, Uuid> topicIds;
  private final String cancelledTopic;
  private boolean complete;

  /**
   * Creates a reader.
   *
   * @param consumer reads from the positions on; closed with the reader
   * @param layout the layout of the input topics
   * @param state what Postgres contained before it was asked for the ends
   * @param positions the stored position of each partition
   * @param ends where the partitions ended when the reader was created
   * @param topicIds the ids of the topics, by name
   * @param cancelledTopic the topic that is read first until Postgres reflects everything: whether
   *     the cancellation behind a conflict was published is known only then
   */
  PublishedTopicReader(
      Consumer<byte[], byte[]> consumer,
      InputTopics.Layout layout,
      ReadBackState.State state,
      Map<TopicPartition, Stored> positions,
      Map<TopicPartition, Long> ends,
      Map<String, Uuid> topicIds,
      String cancelledTopic) {
    this.consumer = consumer;
    this.layout = layout;
    this.state = state;
    this.positions = new HashMap<>(positions);
    this.ends = ends;
    this.topicIds = topicIds;
    this.cancelledTopic = cancelledTopic;
    this.complete = state.complete();
    if (!complete) {
      consumer.pause(conflictPartitions());
    }
  }

  private List<TopicPartition> conflictPartitions() {
    return positions.keySet().stream().filter(p -> !p.topic().equals(cancelledTopic)).toList();
  }

  private boolean hasReachedEnd(TopicPartition partition) {
    Stored position = positions.get(partition);
    return position != null && position.nextOffset() >= ends.getOrDefault(partition, 0L);
  }

  InputTopics.Layout layout() {
    return layout;
  }

  /** Whether Postgres is known to reflect what was published before its server answered. */
  boolean isComplete() {
    return complete;
  }

  /** Reads records, waiting for the first one at most that long; none if it is woken up. */
  List<ConsumerRecord<byte[], byte[]>> read(Duration timeout) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    try {
      if (!consumer.paused().isEmpty()
          && positions.keySet().stream()
              .filter(partition -> partition.topic().equals(cancelledTopic))
              .allMatch(this::hasReachedEnd)) {
        consumer.resume(conflictPartitions());
      }
      consumer.poll(timeout).forEach(records::add);
    } catch (WakeupException e) {
      // The loop that reads checks what it was woken up for.
    }
    return records;
  }

  /** Stores the positions behind the records that were read; needs a surrounding transaction. */
  Map<TopicPartition, Long> advance(ReadBackState to) {
    Map<TopicPartition, Long> advanced = new HashMap<>();
    positions.forEach(
        (partition, stored) -> {
          long next = consumer.position(partition);
          if (next != stored.nextOffset()) {
            advanced.put(partition, next);
          }
        });
    if (!advanced.isEmpty()) {
      to.advance(advanced, positions);
    }
    return advanced;
  }

  /** Records that the transaction that stored the positions is committed. */
  void advanced(Map<TopicPartition, Long> nextOffsets) {
    nextOffsets.forEach(
        (partition, next) ->
            positions.computeIfPresent(
                partition, (same, stored) -> new Stored(stored.topicId(), next)));
  }

  /**
   * Records in Postgres that its server reflects everything, once all positions have reached the
   * ends; returns whether it does.
   *
   * @throws IllegalStateException if another server answers by now; a new reader is needed
   */
  boolean completeAtEnds(ReadBackState to) {
    boolean reached = positions.keySet().stream().allMatch(this::hasReachedEnd);
    if (reached) {
      complete = to.complete(state.serverStartedAt(), ends, topicIds);
      if (!complete) {
        throw new IllegalStateException("another server of Postgres answers by now");
      }
    }
    return complete;
  }

  /** Ends a {@link #read} that waits; callable from any thread. */
  void wakeUp() {
    consumer.wakeup();
  }

  @Override
  public void close() {
    // An interrupt that stops the loop would disturb the consumer's last request.
    boolean interrupted = Thread.interrupted();
    try {
      consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
