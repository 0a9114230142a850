package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.PartitionLeaders;
import io.ordertimeout.orders.platform.kafka.StoredPositions;
import io.ordertimeout.orders.platform.kafka.StoredPositions.Stored;
import io.ordertimeout.orders.platform.kafka.TopicLayoutChangedException;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.suspension.ExpiryHolds;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Where reading starts on partitions that were just assigned or whose position is not in the log:
 * at what Postgres says is stored, never behind it. Kafka's own reset policies are off, because
 * they skip in silence.
 *
 * <p>The group's offset may lead back (somebody wants records read again) but not forward (that
 * would be records never stored). Records that are gone before they were stored place a hold on the
 * shard's expiry, in the same transaction that moves the position past them.
 */
@Component
class StartingPositions {

  private static final Logger log = LoggerFactory.getLogger(StartingPositions.class);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** Where to start, and what was lost before that, if anything was. */
  private record Start(long offset, @Nullable String loss) {}

  private final StoredPositions positions;
  private final ExpiryHolds holds;
  private final InputTopics inputTopics;
  private final PartitionLeaders leaders;
  private final DatabaseClock clock;
  private final TransactionTemplate transactions;
  private final OrderTimeoutProperties.Topics topics;
  private final Duration startBack;

  StartingPositions(
      StoredPositions positions,
      ExpiryHolds holds,
      InputTopics inputTopics,
      PartitionLeaders leaders,
      DatabaseClock clock,
      TransactionTemplate transactions,
      OrderTimeoutProperties properties) {
    this.positions = positions;
    this.holds = holds;
    this.inputTopics = inputTopics;
    this.leaders = leaders;
    this.clock = clock;
    this.transactions = transactions;
    this.topics = properties.topics();
    this.startBack = properties.intake().startBack();
  }

  /**
   * Moves the consumer to where those partitions are to be read from. One without a leader is left
   * out, and paused, so that it keeps no other from being read.
   *
   * @return those to which the consumer was moved
   */
  Set<TopicPartition> seek(Consumer<byte[], byte[]> consumer, Set<TopicPartition> partitions)
      throws InterruptedException {
    Set<TopicPartition> led = leaders.led(partitions);
    Set<TopicPartition> unled = new HashSet<>(partitions);
    unled.removeAll(led);
    leaveOut(consumer, unled);
    if (!led.isEmpty()) {
      seekLed(consumer, led);
      consumer.resume(led);
    }
    return led;
  }

  private static void leaveOut(Consumer<byte[], byte[]> consumer, Set<TopicPartition> unled) {
    if (consumer.paused().containsAll(unled)) {
      return;
    }
    log.warn("{} have no leader; they are read as soon as they have one", unled);
    consumer.pause(unled);
    // A consumer without a position looks for one, in vain, at the expense of the others.
    unled.forEach(partition -> consumer.seek(partition, 0));
  }

  private void seekLed(Consumer<byte[], byte[]> consumer, Set<TopicPartition> partitions) {
    InputTopics.Layout layout = inputTopics.layout();
    if (layout == null) {
      throw new TopicLayoutChangedException();
    }
    partitions.forEach(partition -> awaitOwnLookUp(consumer, partition));
    Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(partitions, PATIENCE);
    Map<TopicPartition, Long> begins = consumer.beginningOffsets(partitions, PATIENCE);
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, PATIENCE);
    Map<TopicPartition, Stored> stored = positions.of(topics.inputs());
    Map<TopicPartition, Start> starts = new HashMap<>();
    for (TopicPartition partition : partitions) {
      long begin = begins.getOrDefault(partition, 0L);
      long end = ends.getOrDefault(partition, begin);
      OffsetAndMetadata offset = committed.get(partition);
      Stored known = stored.get(partition);
      starts.put(
          partition,
          known != null
              ? resume(known, StoredPositions.id(layout, partition), offset, begin, end)
              : offset != null
                  ? from(offset.offset(), begin)
                  : first(consumer, partition, layout, begin, end));
    }
    transactions.executeWithoutResult(
        status -> starts.forEach((partition, start) -> keep(partition, start, layout)));
    starts.forEach((partition, start) -> consumer.seek(partition, start.offset()));
  }

  // A look-up of the consumer's own that is under way would undo the seek.
  private static void awaitOwnLookUp(Consumer<byte[], byte[]> consumer, TopicPartition partition) {
    try {
      consumer.position(partition, PATIENCE);
    } catch (InvalidOffsetException e) {
      // It found nothing, which is what this is here for.
    }
  }

  private static Start resume(
      Stored known, String topicId, @Nullable OffsetAndMetadata committed, long begin, long end) {
    if (!known.topicId().equals(topicId)) {
      return new Start(
          begin,
          "the topic was made anew; whatever its predecessor held from offset "
              + known.nextOffset()
              + " on was not read");
    }
    if (known.nextOffset() > end) {
      return new Start(
          begin,
          "the log ends at offset "
              + end
              + ", before the stored position "
              + known.nextOffset()
              + ": Kafka has lost records");
    }
    if (committed == null || committed.offset() > known.nextOffset()) {
      if (committed != null) {
        log.warn(
            "The group's offset {} is ahead of what is stored, {}; reading from there",
            committed.offset(),
            known.nextOffset());
      }
      return from(known.nextOffset(), begin);
    }
    return new Start(Math.max(committed.offset(), begin), from(known.nextOffset(), begin).loss());
  }

  private static Start from(long wanted, long begin) {
    return wanted >= begin
        ? new Start(wanted, null)
        : new Start(
            begin,
            "offsets " + wanted + " to " + (begin - 1) + " were deleted before they were read");
  }

  private Start first(
      Consumer<byte[], byte[]> consumer,
      TopicPartition partition,
      InputTopics.Layout layout,
      long begin,
      long end) {
    if (layout.isAdded(partition.partition())) {
      return new Start(begin, null);
    }
    Instant from = clock.now().minus(startBack);
    // The end was asked for before: what is appended in between must not be skipped.
    OffsetAndTimestamp found =
        consumer
            .offsetsForTimes(Map.of(partition, Math.max(0, from.toEpochMilli())), PATIENCE)
            .get(partition);
    long start = found == null ? end : found.offset();
    log.debug("{} is read for the first time, from {}: offset {}", partition, from, start);
    return new Start(start, null);
  }

  private void keep(TopicPartition partition, Start start, InputTopics.Layout layout) {
    String loss = start.loss();
    if (loss == null) {
      positions.advance(Map.of(partition, start.offset()), layout);
      return;
    }
    positions.restart(partition, start.offset(), layout);
    if (partition.topic().equals(topics.created())) {
      log.error("{}: {}. Orders created there are not watched", partition, loss);
    } else {
      holds.placeForLostRecords(partition.partition(), partition + ": " + loss);
    }
  }
}
