package io.ordertimeout.orders.readback;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.LostDecisions;
import io.ordertimeout.orders.order.LostDecisions.Decision;
import io.ordertimeout.orders.order.LostDecisions.PublishedConflict;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.platform.loop.BackgroundLoop;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.position.PositionsChangedException;
import io.ordertimeout.orders.position.ReadBackState;
import io.ordertimeout.orders.position.ReflectedServer;
import io.ordertimeout.orders.relay.OutboxRelay;
import io.ordertimeout.orders.suspension.Suspensions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Reads back what this service has published, compares it with Postgres and restores what Postgres
 * has lost, so that a published decision never changes.
 *
 * <p>The owner of shard 0 follows the output topics all the time, a little behind, because a record
 * may be appended by an instance that does not know yet that its decision is lost. At its start,
 * and whenever another server of Postgres answers, each instance reads up to the present ends at
 * once; until then it decides nothing, and then no order of which a partition may tell that could
 * not be read. Events are stored meanwhile: what they did to an order whose published decision is
 * restored later is corrected then. Where the output topics no longer reach back to what Postgres
 * reflects, all shards are held. Thread-safe.
 */
@Component
public class ReadBack extends BackgroundLoop {

  private static final Logger log = LoggerFactory.getLogger(ReadBack.class);

  private static final int FOLLOWED_WITH_SHARD = 0;
  private static final Duration RETRY = Duration.ofMillis(500);
  private static final Duration POLL_TIMEOUT = Duration.ofSeconds(1);

  /** After this time without a record, a partition is left unread until the next attempt. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** Pause between two batches while following, so that following costs little during a burst. */
  private static final Duration FOLLOWING_PAUSE = Duration.ofMillis(250);

  /** Interval at which a reader is replaced, which finds added partitions. */
  private static final Duration REOPENING = Duration.ofMinutes(1);

  /** After this time, a record that was sent is delivered or has failed (delivery.timeout.ms). */
  private static final Duration LONGEST_PUBLICATION = Duration.ofSeconds(30);

  private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration IDLE = Duration.ofHours(1);

  private final PublishedTopics topics;
  private final ReadBackState state;
  private final LostDecisions lostDecisions;
  private final Suspensions suspensions;
  private final OutboxRelay relay;
  private final TransactionTemplate transactions;
  private final StepHealth step;
  private final String cancelledTopic;
  private final Counter restored;

  /** Has a permit while something is requested. */
  private final Semaphore wake = new Semaphore(0);

  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean stopping;
  private volatile boolean following;
  private volatile boolean requested;

  private volatile @Nullable PublishedTopicReader reader;
  private long openedNanos;

  ReadBack(
      PublishedTopics topics,
      ReadBackState state,
      LostDecisions lostDecisions,
      Suspensions suspensions,
      OutboxRelay relay,
      TransactionTemplate transactions,
      StepHealthRegistry steps,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    super(
        steps.step("read-back"),
        LifecyclePhases.RELAY,
        RETRY,
        "after a start, or a failover or restart of Postgres, orders are not decided whose published"
            + " events could not be read");
    this.topics = topics;
    this.state = state;
    this.lostDecisions = lostDecisions;
    this.suspensions = suspensions;
    this.relay = relay;
    this.transactions = transactions;
    this.step = steps.step("read-back");
    this.cancelledTopic = properties.topics().cancelled();
    this.restored =
        Counter.builder("order.timeout.restored.decisions")
            .description("Published decisions that Postgres had lost and that were restored")
            .register(meters);
  }

  /** Records that this instance owns the shard; the owner of shard 0 follows the output topics. */
  public void adopt(int shard) {
    if (shard == FOLLOWED_WITH_SHARD) {
      following = true;
      wakeUp();
    }
  }

  /** Records that this instance no longer owns the shard. */
  public void abandon(int shard) {
    if (shard == FOLLOWED_WITH_SHARD) {
      following = false;
      wakeUp();
    }
  }

  /**
   * Returns whether this process has found the server to reflect what was published before it began
   * to answer, and has that established if not.
   *
   * @param server the identity of the server that answers
   * @param wentBack whether positions of it went back, so that its tables may have been restored
   */
  public boolean isReflected(String server, boolean wentBack) {
    if (state.notice(server, wentBack)) {
      return true;
    }
    request();
    return false;
  }

  /** Has everything read back that was published so far, unless that is done for the server. */
  public void request() {
    if (!requested) {
      requested = true;
      wakeUp();
    }
  }

  private void wakeUp() {
    wake.release();
    PublishedTopicReader reading = reader;
    if (reading != null) {
      reading.wakeUp();
    }
  }

  @Override
  protected void runOnce() throws InterruptedException {
    try {
      if (stopping) {
        close();
        closed.countDown();
        await(IDLE);
      } else if (requested || (following && reader == null)) {
        requested = false;
        close();
        readToEnds(open());
      } else if (following) {
        follow(Objects.requireNonNull(reader));
      } else {
        close();
        step.succeeded();
        await(IDLE);
      }
    } catch (WakeupException e) {
      requested = true;
      close();
    } catch (PositionsChangedException e) {
      // Another instance reads back too. The next reader starts where that one has got to.
      requested = true;
      close();
      await(FOLLOWING_PAUSE);
    } catch (RuntimeException | InterruptedException e) {
      requested = true;
      close();
      throw e;
    }
  }

  /** Closes the reader before the loop is interrupted, which would disturb its last request. */
  @Override
  public void stop() {
    stopping = true;
    wakeUp();
    try {
      if (!closed.await(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        log.debug("The read-back is interrupted");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    super.stop();
  }

  private PublishedTopicReader open() throws InterruptedException {
    PublishedTopicReader opened = topics.open();
    openedNanos = System.nanoTime();
    reader = opened;
    return opened;
  }

  /**
   * Reads one partition after the other up to its present end, and remembers that Postgres reflects
   * all that they contain. A partition that cannot be read delays no other one.
   *
   * @throws UnreadPartitionsException if there are any; what is in the others is reflected
   */
  private void readToEnds(PublishedTopicReader opened) throws InterruptedException {
    PublishedTopicReader from = opened;
    if (!from.isKnown()) {
      log.info("Reading back what was published before this server of Postgres began to answer");
      relay.forgetUnsent();
      if (!relay.isSettled()) {
        // Once those on their way are published, they are read back with the others.
        close();
        awaitOwnPublications();
        from = open();
      }
      suspensions.refresh();
    }
    long records = 0;
    Map<TopicPartition, Throwable> failures = new HashMap<>();
    for (TopicPartition partition : cancellationsFirst(from.unread())) {
      try {
        records += readToEnd(from, partition);
      } catch (InterruptException e) {
        throw e;
      } catch (KafkaException e) {
        failures.put(partition, e);
      }
      if (stopping) {
        return;
      }
    }
    List<TopicPartition> unread = from.unread();
    if (!from.isComplete()) {
      ReflectedServer before = state.reflected();
      from.complete(state);
      if (!state.reflected().equals(before)) {
        relay.findLeftBehind();
      }
    }
    if (!unread.isEmpty()) {
      throw new UnreadPartitionsException(unread, failures);
    }
    if (!from.isComplete()) {
      log.info(
          "Postgres reflects everything that was published; {} records were compared", records);
    }
    from.selectAll();
    step.succeeded();
  }

  /** Whether the cancellation behind a conflict was published is known if it is read first. */
  private List<TopicPartition> cancellationsFirst(List<TopicPartition> partitions) {
    return partitions.stream()
        .sorted(Comparator.comparing(partition -> !partition.topic().equals(cancelledTopic)))
        .toList();
  }

  /** Reads a partition to its end, or until no more of it can be read; returns the records read. */
  private long readToEnd(PublishedTopicReader from, TopicPartition partition) {
    if (!from.isReadable(partition)) {
      return 0;
    }
    from.select(partition);
    long records = 0;
    long progressNanos = System.nanoTime();
    while (!stopping
        && !from.hasReachedEnd(partition)
        && System.nanoTime() - progressNanos < PATIENCE.toNanos()) {
      List<ConsumerRecord<byte[], byte[]>> read = from.read(POLL_TIMEOUT);
      if (restoreAndAdvance(from, read)) {
        progressNanos = System.nanoTime();
      }
      records += read.size();
    }
    return records;
  }

  private void awaitOwnPublications() throws InterruptedException {
    long start = System.nanoTime();
    while (!stopping
        && !relay.isSettled()
        && System.nanoTime() - start < LONGEST_PUBLICATION.toNanos()) {
      TimeUnit.MILLISECONDS.sleep(POLL_INTERVAL.toMillis());
    }
  }

  private void follow(PublishedTopicReader from) throws InterruptedException {
    List<ConsumerRecord<byte[], byte[]>> records = from.read(POLL_TIMEOUT);
    restoreAndAdvance(from, records);
    step.succeeded();
    if (!records.isEmpty()) {
      await(FOLLOWING_PAUSE);
    }
    if (System.nanoTime() - openedNanos > REOPENING.toNanos()) {
      close();
    }
  }

  /** Returns whether a position was advanced. */
  private boolean restoreAndAdvance(
      PublishedTopicReader from, List<ConsumerRecord<byte[], byte[]>> records) {
    ReflectedServer reflected = state.reflected();
    List<OutboxEvent> events = new ArrayList<>();
    Map<TopicPartition, Long> advanced =
        Objects.requireNonNull(
            transactions.execute(
                status -> {
                  events.addAll(restore(from, records));
                  return from.advance(state);
                }));
    from.advanced(advanced);
    relay.publish(events, reflected);
    return !advanced.isEmpty();
  }

  private List<OutboxEvent> restore(
      PublishedTopicReader from, List<ConsumerRecord<byte[], byte[]>> records) {
    List<OutboxEvent> events = new ArrayList<>();
    List<ConsumerRecord<byte[], byte[]>> keyed =
        records.stream().filter(record -> PublishedRecords.orderId(record) != null).toList();
    events.addAll(
        restoreCancellations(
            from, keyed.stream().filter(r -> r.topic().equals(cancelledTopic)).toList()));
    events.addAll(
        restoreConflicts(
            from, keyed.stream().filter(r -> !r.topic().equals(cancelledTopic)).toList()));
    return events;
  }

  private List<OutboxEvent> restoreCancellations(
      PublishedTopicReader from, List<ConsumerRecord<byte[], byte[]>> records) {
    if (records.isEmpty()) {
      return List.of();
    }
    Set<String> missing =
        lostDecisions.notCancelled(
            records.stream().map(PublishedRecords::orderId).collect(Collectors.toSet()));
    List<Decision> lost =
        lostDecisions.lost(
            records.stream()
                .filter(record -> missing.contains(PublishedRecords.orderId(record)))
                .map(record -> PublishedRecords.cancellation(record, from.layout()))
                .flatMap(Optional::stream)
                .toList());
    if (lost.isEmpty()) {
      return List.of();
    }
    List<OutboxEvent> conflicts = lostDecisions.restore(lost);
    report("cancellations", lost.size(), conflicts.size());
    return conflicts;
  }

  private List<OutboxEvent> restoreConflicts(
      PublishedTopicReader from, List<ConsumerRecord<byte[], byte[]>> records) {
    List<PublishedConflict> conflicts =
        records.stream()
            .map(record -> PublishedRecords.conflict(record, from.layout()))
            .flatMap(Optional::stream)
            .toList();
    if (conflicts.isEmpty()) {
      return List.of();
    }
    List<PublishedConflict> lost = lostDecisions.lostConflicts(conflicts);
    if (lost.isEmpty()) {
      return List.of();
    }
    List<OutboxEvent> events = lostDecisions.restoreConflicts(lost);
    report("payment conflicts", lost.size(), events.size());
    return events;
  }

  private void report(String what, int count, int events) {
    restored.increment(count);
    log.error(
        "Postgres had lost {} {} that were already published; they are restored as published, and {}"
            + " events follow from them. Synchronous replication would have kept them",
        count,
        what,
        events);
  }

  private void await(Duration patience) throws InterruptedException {
    if (wake.tryAcquire(patience.toNanos(), TimeUnit.NANOSECONDS)) {
      wake.drainPermits();
    }
  }

  private void close() {
    PublishedTopicReader open = reader;
    reader = null;
    if (open != null) {
      open.close();
    }
  }
}
