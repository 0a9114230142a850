package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.PartitionCounts;
import io.ordertimeout.orders.platform.kafka.PartitionLeaders;
import io.ordertimeout.orders.platform.kafka.TopicLayoutChangedException;
import io.ordertimeout.orders.position.LogRange;
import io.ordertimeout.orders.position.Position;
import io.ordertimeout.orders.position.StoredPositions;
import io.ordertimeout.orders.position.StoredPositions.Snapshot;
import io.ordertimeout.orders.suspension.Suspensions;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Determines where reading starts on partitions that are newly assigned or whose position is no
 * longer in the log: at the position stored in Postgres, never after it, and at the beginning of
 * the log if there is none. Kafka's own reset policies are off, because they skip records silently.
 *
 * <p>The group's committed offset may move reading back (somebody wants records to be read again)
 * but not forward (records would never be stored). If records were deleted before they were stored,
 * the transaction that moves the position past them also holds the expiry of every shard whose
 * orders they may have settled.
 */
@Component
class StartingPositions {

  private static final Logger log = LoggerFactory.getLogger(StartingPositions.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  /** The offset to start at, and which records before it were lost, if any. */
  private record Start(long offset, @Nullable String loss) {}

  /**
   * By partition, the offset from which records were replaced by others; confined per partition.
   */
  private final Map<TopicPartition, Long> divergences = new ConcurrentHashMap<>();

  private final StoredPositions positions;
  private final Suspensions suspensions;
  private final InputTopics inputTopics;
  private final PartitionCounts partitionCounts;
  private final PartitionLeaders leaders;
  private final TransactionTemplate transactions;
  private final OrderTimeoutProperties.Topics topics;

  StartingPositions(
      StoredPositions positions,
      Suspensions suspensions,
      InputTopics inputTopics,
      PartitionCounts partitionCounts,
      PartitionLeaders leaders,
      TransactionTemplate transactions,
      OrderTimeoutProperties properties) {
    this.positions = positions;
    this.suspensions = suspensions;
    this.inputTopics = inputTopics;
    this.partitionCounts = partitionCounts;
    this.leaders = leaders;
    this.transactions = transactions;
    this.topics = properties.topics();
  }

  /**
   * Moves the consumer to the starting positions of the partitions. Partitions without a leader are
   * paused instead, so that they do not delay the others.
   *
   * @param known receives the stored positions of the partitions
   * @return the partitions in which the consumer was moved
   */
  Set<TopicPartition> seek(
      Consumer<byte[], byte[]> consumer, Set<TopicPartition> partitions, KnownPositions known)
      throws InterruptedException {
    Set<TopicPartition> withLeader = leaders.withLeader(partitions);
    Set<TopicPartition> leaderless = new HashSet<>(partitions);
    leaderless.removeAll(withLeader);
    pause(consumer, leaderless);
    if (!withLeader.isEmpty()) {
      seekToStarts(consumer, withLeader, known);
      consumer.resume(withLeader);
    }
    return withLeader;
  }

  private static void pause(Consumer<byte[], byte[]> consumer, Set<TopicPartition> leaderless) {
    if (consumer.paused().containsAll(leaderless)) {
      return;
    }
    log.warn("{} have no leader; reading starts as soon as they have one", leaderless);
    consumer.pause(leaderless);
    // Without any position, the consumer keeps looking it up, which delays the other partitions.
    leaderless.forEach(partition -> consumer.seek(partition, 0));
  }

  /** Records from where on the log contains other records than those that were read. */
  void truncated(InvalidOffsetException failure) {
    if (failure instanceof LogTruncationException truncation) {
      truncation
          .divergentOffsets()
          .forEach((partition, offset) -> divergences.put(partition, offset.offset()));
    }
  }

  private void seekToStarts(
      Consumer<byte[], byte[]> consumer, Set<TopicPartition> partitions, KnownPositions known) {
    InputTopics.Layout layout = inputTopics.layout();
    if (layout == null) {
      throw new TopicLayoutChangedException();
    }
    partitions.forEach(partition -> awaitPositionLookup(consumer, partition));
    Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(partitions, TIMEOUT);
    Map<TopicPartition, Long> begins = consumer.beginningOffsets(partitions, TIMEOUT);
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, TIMEOUT);
    Snapshot snapshot = positions.read(topics.inputs());
    Map<TopicPartition, Position> stored = snapshot.positions();
    Map<TopicPartition, Start> starts = new HashMap<>();
    for (TopicPartition partition : partitions) {
      long begin = begins.getOrDefault(partition, 0L);
      long end = ends.getOrDefault(partition, begin);
      OffsetAndMetadata groupOffset = committed.get(partition);
      Position position = stored.get(partition);
      starts.put(
          partition,
          position != null
              ? resume(
                  position,
                  new LogRange(
                      StoredPositions.id(layout, partition),
                      begin,
                      divergences.getOrDefault(partition, end)),
                  groupOffset)
              // What was never read counts as unread, whatever its times and the group's offset
              // say.
              : new Start(begin, null));
    }
    transactions.executeWithoutResult(
        status ->
            starts.forEach(
                (partition, start) -> store(partition, stored.get(partition), start, layout)));
    starts.forEach(
        (partition, start) -> {
          Position position = stored.get(partition);
          // As one server has answered. If another one answers by now, the first batch is refused.
          known.read(
              partition,
              position == null || start.loss() != null
                  ? new Position(StoredPositions.id(layout, partition), start.offset())
                  : position);
          divergences.remove(partition);
          consumer.seek(partition, start.offset());
        });
    if (known.server() == null) {
      known.answeredBy(snapshot.server());
    }
  }

  // A lookup that the consumer has already started would overwrite the position of the seek.
  private static void awaitPositionLookup(
      Consumer<byte[], byte[]> consumer, TopicPartition partition) {
    try {
      consumer.position(partition, TIMEOUT);
    } catch (InvalidOffsetException e) {
      // Expected: the consumer has no valid position, which is why it is moved.
    }
  }

  private static Start resume(
      Position stored, LogRange range, @Nullable OffsetAndMetadata committed) {
    String loss = range.loss(stored);
    if (loss != null) {
      return new Start(range.begin(), loss);
    }
    long next = stored.nextOffset();
    if (committed != null && committed.offset() > next) {
      log.warn(
          "The group's committed offset {} is ahead of the stored position {}; reading starts at the"
              + " stored position",
          committed.offset(),
          next);
    }
    long wanted = committed == null ? next : Math.min(committed.offset(), next);
    return new Start(Math.max(wanted, range.begin()), null);
  }

  private void store(
      TopicPartition partition, @Nullable Position stored, Start start, InputTopics.Layout layout) {
    if (stored == null) {
      positions.begin(partition, start.offset(), layout);
    }
    String loss = start.loss();
    if (loss == null) {
      return;
    }
    if (stored != null) {
      positions.restart(partition, stored, start.offset(), layout);
    }
    if (!topics.settles(partition.topic())) {
      log.error("{}: {}. Orders created by the lost records are not watched", partition, loss);
    } else {
      suspensions.holdForLostRecords(
          partitionCounts.shardsSettledIn(partition.partition()), partition + ": " + loss);
    }
  }
}
