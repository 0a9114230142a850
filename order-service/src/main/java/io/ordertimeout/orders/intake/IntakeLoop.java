package io.ordertimeout.orders.intake;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.intake.HeldBackPartitions.HeldBack;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.KafkaConsumers;
import io.ordertimeout.orders.platform.kafka.TopicLayoutChangedException;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.CachedRead;
import io.ordertimeout.orders.position.PositionsChangedException;
import io.ordertimeout.orders.shard.Shards;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CloseOptions.GroupMembershipOperation;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
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
 * The loop of one consumer thread: poll a batch, store it together with the positions, notify the
 * shards, commit the offsets every few seconds. The order ensures that no offset is committed
 * before its record is stored. A batch that could not be stored is polled again; a consumer that
 * failed is replaced. A backlog of creations does not delay decisions.
 *
 * <p>Each batch is stored only if Postgres contains the positions that this loop has stored before,
 * and while nothing arrives, the positions are compared whenever they or the server have changed.
 * If Postgres lost commits or failed over, the affected shards are rebuilt from what it contains.
 */
final class IntakeLoop implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(IntakeLoop.class);

  private static final Duration POLL_TIMEOUT = Duration.ofMillis(500);

  /** Shortest interval at which Postgres's positions are compared while nothing arrives. */
  private static final Duration COMPARISON = Duration.ofSeconds(1);

  private static final Duration MIN_PAUSE = Duration.ofMillis(250);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(5);

  /** A consumer that is replaced may have lost its group, which cannot answer it then. */
  private static final CloseOptions QUICK_CLOSE = CloseOptions.timeout(Duration.ofSeconds(5));

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);

  private final int number;
  private final StepHealth step;
  private final StepHealth commits;
  private final IntakePrerequisites prerequisites;
  private final InputTopics inputTopics;
  private final KafkaConsumers consumers;
  private final GroupGenerations generations;
  private final StartingPositions startingPositions;
  private final PositionComparison comparison;
  private final CachedRead storedPositions;
  private final BatchIntake intake;
  private final Shards shards;
  private final OrderTimeoutProperties.Topics topics;
  private final Set<String> settling;
  private final MeterRegistry meters;
  private final GroupMembership membership = new GroupMembership(System::nanoTime);

  private final CountDownLatch stopping = new CountDownLatch(1);
  private volatile @Nullable Consumer<byte[], byte[]> current;
  private volatile boolean joined;
  private volatile @Nullable ReplacementReason replacement;

  /** The consumer's position in each partition, once everything below it is stored; confined. */
  private final Map<TopicPartition, OffsetAndMetadata> stored = new HashMap<>();

  /** The positions that Postgres contains, as far as this loop knows; confined to this thread. */
  private final KnownPositions known = new KnownPositions();

  private final CloseOptions finalClose;
  private final HeldBackPartitions heldBack;
  private final RecordPoller poller;
  private long comparedNanos;

  private Duration pause = MIN_PAUSE;

  IntakeLoop(
      int number,
      StepHealthRegistry steps,
      IntakePrerequisites prerequisites,
      InputTopics inputTopics,
      KafkaConsumers consumers,
      GroupGenerations generations,
      StartingPositions startingPositions,
      PositionComparison comparison,
      BatchIntake intake,
      Shards shards,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.number = number;
    this.step = steps.step("intake-" + number);
    this.commits = steps.step("offset-commits-" + number);
    this.heldBack =
        new HeldBackPartitions(
            steps.step("dead-letters-" + number),
            // The console, where an operator can permit the dead letters, must stay available.
            StepHealth.withoutReadiness("unusable-topics-" + number),
            steps.step("decoding-" + number),
            steps.step("unreadable-" + number));
    this.prerequisites = prerequisites;
    this.inputTopics = inputTopics;
    this.consumers = consumers;
    this.generations = generations;
    this.startingPositions = startingPositions;
    this.comparison = comparison;
    this.storedPositions = comparison.watch();
    this.intake = intake;
    this.shards = shards;
    this.topics = properties.topics();
    this.settling = topics.settling();
    this.finalClose =
        CloseOptions.timeout(CLOSE_TIMEOUT)
            .withGroupMembershipOperation(
                properties.intake().leaveOnStop()
                    ? GroupMembershipOperation.LEAVE_GROUP
                    : GroupMembershipOperation.DEFAULT);
    this.poller =
        new RecordPoller(
            new PaymentPriority(
                settling::contains, properties.intake().batchSize(), shards::isAwaitingStorage));
    this.meters = meters;
    for (ReplacementReason reason : ReplacementReason.values()) {
      replacements(reason);
    }
    for (String topic : topics.inputs()) {
      Gauge.builder("order.timeout.stopped.partitions", heldBack, held -> held.unusable(topic))
          .description("Partitions that are not read on, because most records are unusable")
          .tag("topic", topic)
          .tag("consumer", String.valueOf(number))
          .register(meters);
    }
  }

  private OffsetCommits.Listener commitListener() {
    return new OffsetCommits.Listener() {
      @Override
      public void committed(@Nullable Exception failure) {
        membership.committed(failure);
        if (failure == null) {
          commits.succeeded();
        } else {
          commits.failed(
              "the positions are stored in Postgres; the commit will be repeated", failure);
        }
      }

      @Override
      public void nothingToCommit() {
        commits.succeeded();
      }
    };
  }

  /**
   * Whether this consumer has received an assignment from the group, and has acquired the shards
   * that came with it, except those whose partitions have no leader.
   */
  boolean hasJoined() {
    return joined;
  }

  /** The membership of this consumer in its group. */
  GroupMembership membership() {
    return membership;
  }

  /** Has the consumer replaced after the current batch; returns immediately. */
  void replaceConsumer(ReplacementReason reason) {
    if (replacement != null) {
      return;
    }
    replacement = reason;
    Consumer<byte[], byte[]> consumer = current;
    if (consumer != null) {
      consumer.wakeup();
    }
  }

  private Counter replacements(ReplacementReason reason) {
    return Counter.builder("order.timeout.consumer.replacements")
        .description("Consumers that were replaced and rejoined the group, by reason")
        .tag("reason", reason.name().toLowerCase(Locale.ROOT))
        .register(meters);
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
      } catch (RuntimeException | Error e) {
        membership.ended(e);
        pauseAfterFailure(
            "no offset was committed ahead of what is stored; a new consumer will resume", e);
      }
    }
  }

  private void consume() throws InterruptedException {
    InputTopics.Layout layout = inputTopics.layout();
    if (layout == null) {
      throw new TopicLayoutChangedException();
    }
    GroupGenerations.Generation generation = generations.current();
    membership.opened(generation.groupId());
    replacement = null;
    Consumer<byte[], byte[]> consumer = consumers.createGroupMember(number, generation.groupId());
    OffsetCommits offsetCommits = new OffsetCommits(commitListener(), System::nanoTime);
    ShardAssignment assignment =
        new ShardAssignment(
            layout,
            topics.inputs(),
            topics.created(),
            shards,
            partitions -> {
              // A group that a consumer leaves because it does not work accepts no commits.
              if (replacement == null) {
                offsetCommits.commitBeforeRevocation(consumer, stored, partitions);
              }
            });
    current = consumer;
    try {
      consumer.subscribe(topics.inputs(), assignment);
      while (!isStopping() && replacement == null) {
        try {
          pollOnce(consumer, assignment, offsetCommits);
        } catch (InvalidOffsetException e) {
          if (!(e instanceof NoOffsetForPartitionException)) {
            log.warn(
                "The log no longer contains the positions in {}: {}", e.partitions(), e.toString());
          }
          startingPositions.truncated(e);
          assignment.positionsLost(e.partitions());
        }
      }
    } catch (WakeupException e) {
      if (!isStopping() && replacement == null) {
        throw e;
      }
    } finally {
      joined = false;
      current = null;
      membership.closed();
      try {
        close(consumer);
      } finally {
        assignment.close();
        heldBack.close();
        poller.reset();
        stored.clear();
        known.clear();
        storedPositions.forget();
      }
    }
  }

  private void close(Consumer<byte[], byte[]> consumer) {
    ReplacementReason reason = replacement;
    if (reason == null) {
      // Revokes the partitions, which commits what is stored and releases the shards.
      consumer.close(finalClose);
    } else {
      log.info("Replacing consumer {}; reason: {}", number, reason);
      replacements(reason).increment();
      consumer.close(QUICK_CLOSE);
    }
  }

  private void pollOnce(
      Consumer<byte[], byte[]> consumer, ShardAssignment assignment, OffsetCommits offsetCommits)
      throws InterruptedException {
    InputTopics.Layout layout = assignment.layout();
    if (!layout.equals(inputTopics.layout())) {
      // Another thread may have checked the topics again already.
      throw new TopicLayoutChangedException();
    }
    positionNewPartitions(consumer, assignment);
    joined = hasJoined(consumer, assignment);
    heldBack.resume(consumer);
    ConsumerRecords<byte[], byte[]> records = poll(consumer, assignment);
    if (records == null) {
      return;
    }
    Set<TopicPartition> held = consumer.assignment();
    Map<TopicPartition, OffsetAndMetadata> positions =
        positions(consumer, assignment, held, records);
    Map<TopicPartition, Long> advanced = advanced(positions);
    boolean hasSucceeded =
        (records.isEmpty() && advanced.isEmpty())
            ? compareIfDue(assignment)
            : store(consumer, assignment, records, positions, advanced);
    if (hasSucceeded) {
      stored.keySet().retainAll(held);
      known.retainAll(held);
      stored.putAll(positions);
      notifyShards(positions);
      // Includes idle partitions, and transaction markers, which are not records.
      offsetCommits.commitIfDue(consumer, stored, advanced.isEmpty());
    }
  }

  /** Polls records; null if none may be stored yet. */
  private @Nullable ConsumerRecords<byte[], byte[]> poll(
      Consumer<byte[], byte[]> consumer, ShardAssignment assignment) {
    ConsumerRecords<byte[], byte[]> records;
    try {
      records = poller.poll(consumer, POLL_TIMEOUT, heldBack.unreadable());
    } catch (UnreadablePartitionException e) {
      holdBack(consumer, assignment, e);
      return null;
    }
    joined = hasJoined(consumer, assignment);
    if (assignment.isReceived()) {
      membership.polled(consumer.groupMetadata().memberId(), assignment.assigned());
    }
    if (hasNewPartitions(consumer, assignment)) {
      // Their starting positions come first.
      rewind(consumer, records, Set.of());
      return null;
    }
    return records;
  }

  private static boolean hasJoined(Consumer<byte[], byte[]> consumer, ShardAssignment assignment) {
    return assignment.isReceived() && !hasNewPartitions(consumer, assignment);
  }

  /** Whether partitions were assigned whose starting positions can be found, and are not yet. */
  private static boolean hasNewPartitions(
      Consumer<byte[], byte[]> consumer, ShardAssignment assignment) {
    Set<TopicPartition> unpositioned = assignment.unpositioned();
    return !unpositioned.isEmpty() && !consumer.paused().containsAll(unpositioned);
  }

  /**
   * Stores records and positions.
   *
   * @param positions the consumer's positions; receives those of partitions that are held back
   * @param advanced the positions to advance; likewise
   * @return whether they are stored
   */
  private boolean store(
      Consumer<byte[], byte[]> consumer,
      ShardAssignment assignment,
      ConsumerRecords<byte[], byte[]> records,
      Map<TopicPartition, OffsetAndMetadata> positions,
      Map<TopicPartition, Long> advanced)
      throws InterruptedException {
    try {
      Map<TopicPartition, HeldBack> more =
          intake.ingest(records, advanced, known, assignment.layout());
      heldBack.hold(consumer, advanced.keySet(), more);
      more.forEach(
          (p, held) -> {
            positions.put(p, new OffsetAndMetadata(held.offset()));
            advanced.put(p, Math.max(held.offset(), known.offset(p)));
          });
    } catch (PositionsChangedException e) {
      rewind(consumer, records, Set.of());
      if (compare(assignment)) {
        // Another instance has stored records of these partitions.
        pauseAfterFailure("records were not stored and will be read again", e);
      } else {
        stopping.await(MIN_PAUSE.toMillis(), TimeUnit.MILLISECONDS);
      }
      return false;
    } catch (RuntimeException | Error e) {
      rewind(consumer, records, Set.of());
      pauseAfterFailure(
          "records could not be stored and will be read again; no offset was committed ahead", e);
      return false;
    }
    known.stored(advanced);
    succeeded();
    return true;
  }

  /** Compares positions with Postgres's, unless that was done a moment ago or nothing changed. */
  private boolean compareIfDue(ShardAssignment assignment) {
    if (System.nanoTime() - comparedNanos > COMPARISON.toNanos()) {
      if (!storedPositions.readIfChanged(() -> compare(assignment))) {
        return false;
      }
      succeeded();
    }
    return true;
  }

  private void succeeded() {
    pause = MIN_PAUSE;
    step.succeeded();
  }

  private void holdBack(
      Consumer<byte[], byte[]> consumer,
      ShardAssignment assignment,
      UnreadablePartitionException unreadable) {
    TopicPartition partition = unreadable.partition();
    if (assignment.unpositioned().contains(partition)) {
      return; // It is moved first, and then shows whether it can be read.
    }
    heldBack.hold(
        consumer,
        Set.of(),
        Map.of(
            partition,
            HeldBack.unreadable(consumer.position(partition), StepHealth.describe(unreadable))));
  }

  private void positionNewPartitions(Consumer<byte[], byte[]> consumer, ShardAssignment assignment)
      throws InterruptedException {
    Set<TopicPartition> unpositioned = assignment.unpositioned();
    if (unpositioned.isEmpty()) {
      return;
    }
    unpositioned.forEach(stored::remove);
    try {
      Set<TopicPartition> positioned = startingPositions.seek(consumer, unpositioned, known);
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

  /**
   * The consumer's known positions behind records, including those of idle partitions.
   *
   * @param held the partitions that the consumer has; between two polls, its thread in the
   *     background already changes them, and one that is new there has no starting position yet
   */
  private static Map<TopicPartition, OffsetAndMetadata> positions(
      Consumer<byte[], byte[]> consumer,
      ShardAssignment assignment,
      Set<TopicPartition> held,
      ConsumerRecords<byte[], byte[]> records) {
    Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
    Set<TopicPartition> positioned = new HashSet<>(assignment.assigned());
    positioned.removeAll(assignment.unpositioned());
    positioned.retainAll(held);
    for (TopicPartition partition : positioned) {
      try {
        long position = consumer.position(partition, Duration.ZERO);
        positions.put(partition, new OffsetAndMetadata(position));
      } catch (TimeoutException e) {
        // The position is known after the next poll.
      } catch (InvalidOffsetException e) {
        rewind(consumer, records, e.partitions());
        throw e;
      }
    }
    return positions;
  }

  /**
   * The positions that are not stored yet. A position does not go back where records are read again
   * because the group's offsets were reset, but it is compared all the same.
   */
  private Map<TopicPartition, Long> advanced(Map<TopicPartition, OffsetAndMetadata> positions) {
    Map<TopicPartition, Long> advanced = new HashMap<>();
    positions.forEach(
        (partition, position) -> {
          if (!position.equals(stored.get(partition))) {
            advanced.put(partition, Math.max(position.offset(), known.offset(partition)));
          }
        });
    return advanced;
  }

  /**
   * Compares what this loop knows with what Postgres contains, and drops what Postgres has lost.
   *
   * @return whether nothing was lost
   */
  private boolean compare(ShardAssignment assignment) {
    try {
      PositionComparison.Result result = comparison.compare(known, assignment.shards());
      comparedNanos = System.nanoTime();
      assignment.reset(result.lost());
      boolean intact = result.lost().isEmpty();
      if (!intact || !result.readBack()) {
        storedPositions.forget();
      }
      return intact;
    } catch (RuntimeException e) {
      pauseAfterFailure("the stored positions could not be compared with Postgres's", e);
      return false;
    }
  }

  private void notifyShards(Map<TopicPartition, OffsetAndMetadata> positions) {
    Map<TopicPartition, Long> ofSettling = new HashMap<>();
    positions.forEach(
        (partition, position) -> {
          if (settling.contains(partition.topic())) {
            ofSettling.put(partition, position.offset());
          }
        });
    shards.stored(ofSettling);
  }

  private static void rewind(
      Consumer<byte[], byte[]> consumer,
      ConsumerRecords<byte[], byte[]> records,
      Set<TopicPartition> except) {
    for (TopicPartition partition : records.partitions()) {
      if (!except.contains(partition)) {
        consumer.seek(partition, records.records(partition).get(0).offset());
      }
    }
  }

  private boolean isStopping() {
    return stopping.getCount() == 0;
  }

  private void pauseAfterFailure(String consequence, Throwable failure) {
    try {
      step.failed(consequence, failure);
    } catch (Error e) {
      // Even the log fails; the next attempt shows whether anything works again.
    }
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
