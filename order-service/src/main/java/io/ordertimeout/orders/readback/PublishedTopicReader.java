package io.ordertimeout.orders.readback;

import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.position.Position;
import io.ordertimeout.orders.position.ReadBackState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
  private final List<TopicPartition> partitions;
  private final Map<TopicPartition, Position> positions;
  private final Map<TopicPartition, Long> ends;
  private final Map<String, Uuid> topicIds;

  /**
   * Creates a reader, which reads nothing until partitions are selected.
   *
   * @param consumer closed with the reader
   * @param layout the layout of the input topics
   * @param state what Postgres contained before Kafka was asked for the ends
   * @param partitions all partitions of the output topics
   * @param positions the stored position of each of them whose end is known
   * @param ends where these ended when the reader was created
   * @param topicIds the ids of the topics, by name
   */
  PublishedTopicReader(
      Consumer<byte[], byte[]> consumer,
      InputTopics.Layout layout,
      ReadBackState.State state,
      Collection<TopicPartition> partitions,
      Map<TopicPartition, Position> positions,
      Map<TopicPartition, Long> ends,
      Map<String, Uuid> topicIds) {
    this.consumer = consumer;
    this.layout = layout;
    this.state = state;
    this.partitions = List.copyOf(partitions);
    this.positions = new HashMap<>(positions);
    this.ends = Map.copyOf(ends);
    this.topicIds = topicIds;
  }

  InputTopics.Layout layout() {
    return layout;
  }

  /** Whether this process has found before that the server reflects everything. */
  boolean isComplete() {
    return state.isComplete();
  }

  /** Whether it has found that, except for what could not be read. */
  boolean isKnown() {
    return state.isKnown();
  }

  /** The partitions that have not been read up to where they ended. */
  List<TopicPartition> unread() {
    return partitions.stream().filter(partition -> !hasReachedEnd(partition)).toList();
  }

  /** Whether it is known where the partition ends. */
  boolean isReadable(TopicPartition partition) {
    return ends.containsKey(partition);
  }

  /** Whether the partition has been read up to where it ended. */
  boolean hasReachedEnd(TopicPartition partition) {
    Position position = positions.get(partition);
    Long end = ends.get(partition);
    return position != null && end != null && position.nextOffset() >= end;
  }

  /** Reads the partition alone from now on, so that what it fails with concerns no other. */
  void select(TopicPartition partition) {
    assign(List.of(partition));
  }

  /** Reads all partitions from now on. */
  void selectAll() {
    assign(partitions);
  }

  private void assign(List<TopicPartition> selected) {
    consumer.assign(selected);
    for (TopicPartition partition : selected) {
      consumer.seek(partition, Objects.requireNonNull(positions.get(partition)).nextOffset());
    }
  }

  /** Reads records, waiting for the first one at most that long; none if it is woken up. */
  List<ConsumerRecord<byte[], byte[]>> read(Duration timeout) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    try {
      consumer.poll(timeout).forEach(records::add);
    } catch (WakeupException e) {
      // The loop that reads checks what it was woken up for.
    }
    return records;
  }

  /** Stores the positions behind the records that were read; needs a surrounding transaction. */
  Map<TopicPartition, Long> advance(ReadBackState to) {
    Map<TopicPartition, Long> advanced = new HashMap<>();
    for (TopicPartition partition : consumer.assignment()) {
      long next = consumer.position(partition);
      if (next != Objects.requireNonNull(positions.get(partition)).nextOffset()) {
        advanced.put(partition, next);
      }
    }
    if (!advanced.isEmpty()) {
      to.advance(advanced, positions, state.server());
    }
    return advanced;
  }

  /** Records that the transaction that stored the positions is committed. */
  void advanced(Map<TopicPartition, Long> nextOffsets) {
    nextOffsets.forEach(
        (partition, next) ->
            positions.computeIfPresent(
                partition, (same, stored) -> new Position(stored.topicId(), next)));
  }

  /**
   * Remembers that the server reflects everything that was published before it answered, except for
   * what is in partitions that were not read.
   *
   * @throws IllegalStateException if another server answers by now; a new reader is needed
   */
  void complete(ReadBackState to) {
    Map<TopicPartition, Long> reached = new HashMap<>(ends);
    List<TopicPartition> unread = unread();
    unread.forEach(reached::remove);
    if (!to.complete(state, unread, partitionCounts(), reached, topicIds)) {
      throw new IllegalStateException("another server of Postgres answers by now");
    }
  }

  /** The topics that have never had another number of partitions than they have now. */
  private Map<String, Integer> partitionCounts() {
    Map<String, Integer> counts = new HashMap<>(state.partitionCounts());
    counts
        .entrySet()
        .removeIf(
            count ->
                partitions.stream().filter(p -> p.topic().equals(count.getKey())).count()
                    != count.getValue());
    return counts;
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
