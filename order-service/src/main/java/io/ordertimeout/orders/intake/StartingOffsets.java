package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.DatabaseClock;
import io.ordertimeout.orders.OrderTimeoutProperties;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Where reading starts on partitions without a committed offset: a configured span back. Kafka's
 * own reset policies are off, because they also skip, in silence, what fell off the end of the log.
 */
@Component
class StartingOffsets {

  private static final Logger log = LoggerFactory.getLogger(StartingOffsets.class);

  private final DatabaseClock clock;
  private final Duration startBack;

  StartingOffsets(DatabaseClock clock, OrderTimeoutProperties properties) {
    this.clock = clock;
    this.startBack = properties.intake().startBack();
  }

  /**
   * Sets the positions of partitions that the consumer found without a committed offset. Those that
   * have one by now are left alone, since the consumer may tell of them late.
   */
  void seek(Consumer<byte[], byte[]> consumer, Collection<TopicPartition> found) {
    Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(Set.copyOf(found));
    List<TopicPartition> unread =
        found.stream().filter(partition -> committed.get(partition) == null).toList();
    if (unread.isEmpty()) {
      return;
    }
    Instant from = clock.now().minus(startBack);
    log.info("No committed offset on {} partitions; reading from {}", unread.size(), from);
    // Before the look-up by time: what is appended in between must not be skipped.
    Map<TopicPartition, Long> ends = consumer.endOffsets(unread);
    Map<TopicPartition, OffsetAndTimestamp> starts =
        consumer.offsetsForTimes(
            unread.stream()
                .collect(Collectors.toMap(Function.identity(), p -> from.toEpochMilli())));
    for (TopicPartition partition : unread) {
      OffsetAndTimestamp start = starts.get(partition);
      consumer.seek(
          partition, start == null ? Objects.requireNonNull(ends.get(partition)) : start.offset());
    }
  }
}
