package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.KafkaConsumers;
import io.ordertimeout.orders.platform.kafka.TopicLayoutChangedException;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.shard.Shards;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The loop of one consumer thread: poll a batch, store it together with the positions, notify the
 * shards, commit the offsets. The order ensures that no offset is committed before its record is
 * stored. A batch that could not be stored is polled again; a consumer that failed is replaced.
 */
final class IntakeLoop implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(IntakeLoop.class);

  private static final Duration POLL_TIMEOUT = Duration.ofMillis(500);
  private static final Duration COMMIT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration MIN_PAUSE = Duration.ofMillis(250);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(5);

  private final int number;
  private final StepHealth step;
  private final StepHealth commits;
  private final IntakePrerequisites prerequisites;
  private final InputTopics inputTopics;
  private final KafkaConsumers consumers;
  private final StartingPositions startingPositions;
  private final BatchIntake intake;
  private final Shards shards;
  private final OrderTimeoutProperties.Topics topics;

  private final CountDownLatch stopping = new CountDownLatch(1);
  private volatile @Nullable Consumer<byte[], byte[]> current;
  private volatile boolean joined;

  /** The stored position of each partition; confined to this thread. */
  private final Map<TopicPartition, OffsetAndMetadata> stored = new HashMap<>();

  /** Whether the last commit failed and must be repeated; confined to this thread. */
  private boolean commitFailed;

  private Duration pause = MIN_PAUSE;

  IntakeLoop(
      int number,
      StepHealthRegistry steps,
      IntakePrerequisites prerequisites,
      InputTopics inputTopics,
      KafkaConsumers consumers,
      StartingPositions startingPositions,
      BatchIntake intake,
      Shards shards,
      OrderTimeoutProperties properties) {
    this.number = number;
    this.step = steps.step("intake-" + number);
    this.commits = steps.step("offset-commits-" + number);
    this.prerequisites = prerequisites;
    this.inputTopics = inputTopics;
    this.consumers = consumers;
    this.startingPositions = startingPositions;
    this.intake = intake;
    this.shards = shards;
    this.topics = properties.topics();
  }

  /** Whether this consumer has received its first assignment from the group. */
  boolean hasJoined() {
    return joined;
  }

  /** Stops the loop after the current batch; returns immediately. */
  void stop() {
    stopping.countDown();
    Consumer<byte[], byte[]> consumer = current;
    if (consumer != null) {
      consumer.wakeup();
    }
  }

  @Override
  public void run() {
    while (!isStopping()) {
      try {
        prerequisites.ensure();
        consume();
      } catch (InterruptedException | InterruptException e) {
        return;
      } catch (RuntimeException e) {
        pauseAfterFailure(
            "no offset was committed ahead of what is stored; a new consumer will resume", e);
      }
    }
  }

  private void consume() throws InterruptedException {
    Consumer<byte[], byte[]> consumer = consumers.createGroupMember(number);
    ShardAssignment assignment =
        new ShardAssignment(
            topics.inputs(), shards, partitions -> commitBeforeRevocation(consumer, partitions));
    current = consumer;
    try {
      consumer.subscribe(topics.inputs(), assignment);
      while (!isStopping()) {
        try {
          pollOnce(consumer, assignment);
        } catch (InvalidOffsetException e) {
          assignment.positionsLost(e.partitions());
        }
      }
    } catch (WakeupException e) {
      if (!isStopping()) {
        throw e;
      }
    } finally {
      joined = false;
      current = null;
      // Revokes the partitions, which commits what is stored and releases the shards.
      consumer.close();
      assignment.close();
      stored.clear();
    }
  }

  private void pollOnce(Consumer<byte[], byte[]> consumer, ShardAssignment assignment)
      throws InterruptedException {
    InputTopics.Layout layout = inputTopics.layout();
    if (layout == null) {
      throw new TopicLayoutChangedException();
    }
    positionNewPartitions(consumer, assignment);
    ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL_TIMEOUT);
    joined = assignment.isReceived();
    if (!consumer.paused().containsAll(assignment.unpositioned())) {
      // The poll has assigned new partitions; their starting positions come first.
      rewind(consumer, records);
      return;
    }
    Map<TopicPartition, OffsetAndMetadata> positions =
        positions(consumer, assignment.unpositioned());
    Map<TopicPartition, Long> advanced = advanced(positions);
    if (!records.isEmpty() || !advanced.isEmpty()) {
      try {
        intake.takeIn(records, advanced, layout);
      } catch (RuntimeException e) {
        rewind(consumer, records);
        pauseAfterFailure(
            "records could not be stored and will be read again; no offset was committed ahead", e);
        return;
      }
      pause = MIN_PAUSE;
      step.succeeded();
    }
    stored.keySet().retainAll(consumer.assignment());
    stored.putAll(positions);
    notifyShards(positions);
    if (!advanced.isEmpty() || (commitFailed && !stored.isEmpty())) {
      commitFailed = false;
      // Includes idle partitions, and transaction markers, which are not records.
      consumer.commitAsync(Map.copyOf(stored), this::onCommit);
    }
  }

  private void onCommit(
      Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable Exception failure) {
    if (failure == null) {
      commits.succeeded();
    } else {
      commitFailed = true;
      commits.failed("the positions are stored in Postgres; the commit will be repeated", failure);
    }
  }

  private void positionNewPartitions(Consumer<byte[], byte[]> consumer, ShardAssignment assignment)
      throws InterruptedException {
    Set<TopicPartition> unpositioned = assignment.unpositioned();
    if (unpositioned.isEmpty()) {
      return;
    }
    unpositioned.forEach(stored::remove);
    try {
      Set<TopicPartition> positioned = startingPositions.seek(consumer, unpositioned);
      assignment.positioned(positioned);
      if (!positioned.isEmpty()) {
        step.succeeded();
      }
    } catch (TopicLayoutChangedException | WakeupException | InterruptException e) {
      throw e;
    } catch (RuntimeException e) {
      pauseAfterFailure(
          "newly assigned partitions are not read until their starting positions are known", e);
    }
  }

  /** The consumer's known positions, including those of idle partitions. */
  private static Map<TopicPartition, OffsetAndMetadata> positions(
      Consumer<byte[], byte[]> consumer, Set<TopicPartition> unpositioned) {
    Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
    Set<TopicPartition> positioned = new HashSet<>(consumer.assignment());
    positioned.removeAll(unpositioned);
    for (TopicPartition partition : positioned) {
      try {
        long position = consumer.position(partition, Duration.ZERO);
        positions.put(partition, new OffsetAndMetadata(position));
      } catch (TimeoutException e) {
        // The position is known after the next poll.
      }
    }
    return positions;
  }

  /** The positions that are not stored yet. */
  private Map<TopicPartition, Long> advanced(Map<TopicPartition, OffsetAndMetadata> positions) {
    Map<TopicPartition, Long> advanced = new HashMap<>();
    positions.forEach(
        (partition, position) -> {
          if (!position.equals(stored.get(partition))) {
            advanced.put(partition, position.offset());
          }
        });
    return advanced;
  }

  private void notifyShards(Map<TopicPartition, OffsetAndMetadata> positions) {
    positions.forEach(
        (partition, position) -> {
          if (!partition.topic().equals(topics.created())) {
            shards.stored(partition, position.offset());
          }
        });
  }

  private static void rewind(
      Consumer<byte[], byte[]> consumer, ConsumerRecords<byte[], byte[]> records) {
    for (TopicPartition partition : records.partitions()) {
      ConsumerRecord<byte[], byte[]> first = records.records(partition).get(0);
      consumer.seek(partition, first.offset());
    }
  }

  private void commitBeforeRevocation(
      Consumer<byte[], byte[]> consumer, Collection<TopicPartition> partitions) {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>(stored);
    offsets.keySet().retainAll(partitions);
    if (offsets.isEmpty()) {
      return;
    }
    try {
      consumer.commitSync(offsets, COMMIT_TIMEOUT);
    } catch (RuntimeException e) {
      log.warn(
          "Could not commit offsets before a revocation; the next owner will read some records"
              + " again: {}",
          e.toString());
    }
  }

  private boolean isStopping() {
    return stopping.getCount() == 0;
  }

  private void pauseAfterFailure(String consequence, RuntimeException failure) {
    step.failed(consequence, failure);
    try {
      if (stopping.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
        return;
      }
      Duration longer = pause.multipliedBy(2);
      pause = longer.compareTo(MAX_PAUSE) < 0 ? longer : MAX_PAUSE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
