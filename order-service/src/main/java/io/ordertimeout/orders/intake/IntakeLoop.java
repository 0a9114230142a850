package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.expiry.PaymentWatermark;
import io.ordertimeout.orders.shard.Shards;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One consumer thread: poll, take the batch in, tell the watermark the positions, commit the
 * offsets; in this order, so that no offset is committed whose record is not stored. A batch that
 * could not be stored is polled again; a consumer that failed is replaced.
 */
final class IntakeLoop implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(IntakeLoop.class);

  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration COMMIT = Duration.ofSeconds(10);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(250);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  private final int number;
  private final TopicCheck topicCheck;
  private final IntakeConsumers consumers;
  private final StartingOffsets startingOffsets;
  private final BatchIntake intake;
  private final Shards shards;
  private final PaymentWatermark watermark;
  private final OrderTimeoutProperties.Topics topics;

  private final CountDownLatch stopping = new CountDownLatch(1);
  private volatile @Nullable Consumer<byte[], byte[]> current;
  private volatile boolean joined;

  /** Next offset to be read, of which everything below is in Postgres; this thread's alone. */
  private final Map<TopicPartition, OffsetAndMetadata> stored = new HashMap<>();

  private Duration pause = FIRST_PAUSE;

  IntakeLoop(
      int number,
      TopicCheck topicCheck,
      IntakeConsumers consumers,
      StartingOffsets startingOffsets,
      BatchIntake intake,
      Shards shards,
      PaymentWatermark watermark,
      OrderTimeoutProperties properties) {
    this.number = number;
    this.topicCheck = topicCheck;
    this.consumers = consumers;
    this.startingOffsets = startingOffsets;
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
        topicCheck.check();
        consume();
      } catch (UnusableTopicsException e) {
        log.error("{} {}", e.getMessage(), e.action());
        pauseAfterFailure();
      } catch (InterruptedException | InterruptException e) {
        return;
      } catch (RuntimeException e) {
        log.warn("Intake failed; no offset was committed ahead, a new consumer goes on", e);
        pauseAfterFailure();
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
        } catch (NoOffsetForPartitionException e) {
          startingOffsets.seek(consumer, e.partitions());
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
      assignment.onPartitionsLost(Set.copyOf(stored.keySet()));
      stored.clear();
    }
  }

  private void turn(Consumer<byte[], byte[]> consumer, ShardAssignment assignment)
      throws InterruptedException {
    ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
    joined = assignment.isTold();
    if (!records.isEmpty()) {
      try {
        intake.take(records);
        pause = FIRST_PAUSE;
      } catch (RuntimeException e) {
        log.warn(
            "{} records could not be stored; they are read again in {}", records.count(), pause, e);
        rewind(consumer, records);
        pauseAfterFailure();
        return;
      }
    }
    boolean complete = noteStored(consumer);
    if (assignment.isFresh() && complete) {
      // Also of idle partitions: without a committed offset a payment that comes while nobody
      // reads might lie before the point where reading starts again.
      consumer.commitSync(Map.copyOf(stored), COMMIT);
      assignment.startingOffsetsCommitted();
    } else if (!records.isEmpty()) {
      consumer.commitAsync(
          Map.copyOf(stored),
          (offsets, failure) -> {
            if (failure != null) {
              log.warn(
                  "Offsets were not committed; the next commit has them: {}", failure.toString());
            }
          });
    }
  }

  /** Notes the positions, also of idle partitions; false if one is not known yet. */
  private boolean noteStored(Consumer<byte[], byte[]> consumer) {
    Set<TopicPartition> assigned = consumer.assignment();
    stored.keySet().retainAll(assigned);
    boolean complete = true;
    for (TopicPartition partition : assigned) {
      try {
        long position = consumer.position(partition, Duration.ZERO);
        stored.put(partition, new OffsetAndMetadata(position));
        if (!partition.topic().equals(topics.created())) {
          watermark.stored(partition, position);
        }
      } catch (TimeoutException e) {
        complete = false;
      }
    }
    return complete;
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

  private void pauseAfterFailure() {
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
