package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.KafkaConsumers;
import io.ordertimeout.orders.platform.kafka.TopicLayoutChangedException;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.shard.Shards;
import io.ordertimeout.orders.watermark.PaymentWatermark;
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
 * One consumer thread: poll, take the batch in and with it the positions, tell the watermark,
 * commit the offsets; in this order, so that no offset is committed whose record is not stored. A
 * batch that could not be stored is polled again; a consumer that failed is replaced.
 */
final class IntakeLoop implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(IntakeLoop.class);

  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration COMMIT = Duration.ofSeconds(10);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(250);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  private final int number;
  private final StepHealth step;
  private final StepHealth commits;
  private final StartConditions prerequisites;
  private final InputTopics inputTopics;
  private final KafkaConsumers consumers;
  private final StartingPositions startingPositions;
  private final BatchIntake intake;
  private final Shards shards;
  private final PaymentWatermark watermark;
  private final OrderTimeoutProperties.Topics topics;

  private final CountDownLatch stopping = new CountDownLatch(1);
  private volatile @Nullable Consumer<byte[], byte[]> current;
  private volatile boolean joined;

  /** Next offset to be read, of which everything below is in Postgres; this thread's alone. */
  private final Map<TopicPartition, OffsetAndMetadata> stored = new HashMap<>();

  /** Whether the last commit has to be made up for; this thread's alone, like its callback. */
  private boolean commitFailed;

  private Duration pause = FIRST_PAUSE;

  IntakeLoop(
      int number,
      StepHealthRegistry steps,
      StartConditions prerequisites,
      InputTopics inputTopics,
      KafkaConsumers consumers,
      StartingPositions startingPositions,
      BatchIntake intake,
      Shards shards,
      PaymentWatermark watermark,
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
    this.watermark = watermark;
    this.topics = properties.topics();
  }

  /** Whether the group has told this consumer which partitions are its. */
  boolean hasJoined() {
    return joined;
  }

  /** Ends the loop after the batch under way; returns at once. */
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
        prerequisites.meet();
        consume();
      } catch (InterruptedException | InterruptException e) {
        return;
      } catch (RuntimeException e) {
        pauseAfterFailure("no offset was committed ahead, a new consumer goes on soon", e);
      }
    }
  }

  private void consume() throws InterruptedException {
    Consumer<byte[], byte[]> consumer = consumers.create(number);
    ShardAssignment assignment =
        new ShardAssignment(
            topics.inputs(), shards, partitions -> commitBeforeRevocation(consumer, partitions));
    current = consumer;
    try {
      consumer.subscribe(topics.inputs(), assignment);
      while (!isStopping()) {
        try {
          turn(consumer, assignment);
        } catch (InvalidOffsetException e) {
          assignment.displaced(e.partitions());
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
      assignment.end();
      stored.clear();
    }
  }

  private void turn(Consumer<byte[], byte[]> consumer, ShardAssignment assignment)
      throws InterruptedException {
    InputTopics.Layout layout = inputTopics.layout();
    if (layout == null) {
      throw new TopicLayoutChangedException();
    }
    place(consumer, assignment);
    ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
    joined = assignment.isTold();
    if (!consumer.paused().containsAll(assignment.unplaced())) {
      // Before anything is read of a new partition it is to be settled from where.
      rewind(consumer, records);
      return;
    }
    Map<TopicPartition, OffsetAndMetadata> positions = positions(consumer, assignment.unplaced());
    Map<TopicPartition, Long> advanced = advanced(positions);
    if (!records.isEmpty() || !advanced.isEmpty()) {
      try {
        intake.takeIn(records, advanced, layout);
      } catch (RuntimeException e) {
        rewind(consumer, records);
        pauseAfterFailure(
            "records could not be stored, they are read again; no offset was committed ahead", e);
        return;
      }
      pause = FIRST_PAUSE;
      step.succeeded();
    }
    stored.keySet().retainAll(consumer.assignment());
    stored.putAll(positions);
    tellWatermark(positions);
    if (!advanced.isEmpty() || (commitFailed && !stored.isEmpty())) {
      commitFailed = false;
      // Also of idle partitions and of transaction markers, which are no records.
      consumer.commitAsync(Map.copyOf(stored), this::committed);
    }
  }

  private void committed(
      Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable Exception failure) {
    if (failure == null) {
      commits.succeeded();
    } else {
      commitFailed = true;
      commits.failed("Postgres has the positions, and they are committed again", failure);
    }
  }

  private void place(Consumer<byte[], byte[]> consumer, ShardAssignment assignment)
      throws InterruptedException {
    Set<TopicPartition> unplaced = assignment.unplaced();
    if (unplaced.isEmpty()) {
      return;
    }
    unplaced.forEach(stored::remove);
    try {
      Set<TopicPartition> placed = startingPositions.seek(consumer, unplaced);
      assignment.placed(placed);
      if (!placed.isEmpty()) {
        step.succeeded();
      }
    } catch (TopicLayoutChangedException | WakeupException | InterruptException e) {
      throw e;
    } catch (RuntimeException e) {
      pauseAfterFailure("it is not known yet from where to read new partitions", e);
    }
  }

  /** The consumer's positions, also of idle partitions, as far as they are known. */
  private static Map<TopicPartition, OffsetAndMetadata> positions(
      Consumer<byte[], byte[]> consumer, Set<TopicPartition> unplaced) {
    Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
    Set<TopicPartition> placed = new HashSet<>(consumer.assignment());
    placed.removeAll(unplaced);
    for (TopicPartition partition : placed) {
      try {
        long position = consumer.position(partition, Duration.ZERO);
        positions.put(partition, new OffsetAndMetadata(position));
      } catch (TimeoutException e) {
        // Known after the next poll.
      }
    }
    return positions;
  }

  /** Those of the positions that are not stored yet. */
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

  private void tellWatermark(Map<TopicPartition, OffsetAndMetadata> positions) {
    positions.forEach(
        (partition, position) -> {
          if (!partition.topic().equals(topics.created())) {
            watermark.stored(partition, position.offset());
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
      consumer.commitSync(offsets, COMMIT);
    } catch (RuntimeException e) {
      log.warn(
          "Offsets were not committed before a revocation; the next owner reads some records"
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
      pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
