package io.ordertimeout.orders.readback;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.LostDecisions;
import io.ordertimeout.orders.deadline.LostDecisions.Decision;
import io.ordertimeout.orders.deadline.LostDecisions.PublishedConflict;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.platform.kafka.PositionsChangedException;
import io.ordertimeout.orders.platform.kafka.ReadBackState;
import io.ordertimeout.orders.platform.monitoring.BackgroundLoop;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.relay.OutboxRelay;
import io.ordertimeout.orders.suspension.ShardHeartbeats;
import java.time.Duration;
import java.util.ArrayList;
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
import org.apache.kafka.common.TopicPartition;
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
 * may be appended by an instance that does not know yet that its decision is lost. Whenever a
 * server of Postgres answers for which nothing was read back yet, any instance that finds out reads
 * up to the present ends at once; until then nothing is stored or decided. Where the output topics
 * no longer reach back to what Postgres reflects, all shards are held. Thread-safe.
 */
@Component
public class ReadBack extends BackgroundLoop {

  private static final Logger log = LoggerFactory.getLogger(ReadBack.class);

  private static final int FOLLOWED_WITH_SHARD = 0;
  private static final Duration RETRY = Duration.ofMillis(500);
  private static final Duration POLL_TIMEOUT = Duration.ofSeconds(1);

  /** Pause between two batches while following, so that following costs little during a burst. */
  private static final Duration FOLLOWING_PAUSE = Duration.ofMillis(250);

  /** Interval at which a reader is replaced, which finds added partitions. */
  private static final Duration REOPENING = Duration.ofMinutes(1);

  /** After this time, a record that was sent is delivered or has failed (delivery.timeout.ms). */
  private static final Duration LONGEST_PUBLICATION = Duration.ofSeconds(30);

  private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

  /** After this time without a heartbeat of any shard, no instance serves. */
  private static final Duration SILENCE = Duration.ofSeconds(10);

  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration IDLE = Duration.ofHours(1);

  private final PublishedTopics topics;
  private final ReadBackState state;
  private final LostDecisions lostDecisions;
  private final ShardHeartbeats heartbeats;
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
      ShardHeartbeats heartbeats,
      OutboxRelay relay,
      TransactionTemplate transactions,
      StepHealthRegistry steps,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    super(
        steps.step("read-back"),
        LifecyclePhases.RELAY,
        RETRY,
        "after a failover or restart of Postgres, nothing is stored or decided until it succeeds");
    this.topics = topics;
    this.state = state;
    this.lostDecisions = lostDecisions;
    this.heartbeats = heartbeats;
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

  /** Requests that everything published so far is read back, unless Postgres reflects it. */
  public void request() {
    if (!requested) {
      requested = true;
      wakeUp();
    }
  }

  /** Has everything read back again, even if that was done for the server before. */
  public void repeat() {
    state.forget();
    request();
  }

  /**
   * Has everything read back again if no instance serves any shard now: a backup may have been
   * restored meanwhile, even by a server that was running all the time.
   */
  public void requestIfNobodyServes() {
    if (heartbeats.areSilentFor(SILENCE)) {
      state.forget();
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
      } else if (requested) {
        requested = false;
        close();
        readToEnds();
      } else if (following) {
        readToEnds();
        follow();
      } else {
        close();
        step.succeeded();
        await(IDLE);
      }
    } catch (WakeupException e) {
      close();
    } catch (PositionsChangedException e) {
      // Another instance reads back too. The next reader starts where that one has got to.
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

  private PublishedTopicReader reader() throws InterruptedException {
    PublishedTopicReader open = reader;
    if (open == null) {
      open = topics.open();
      openedNanos = System.nanoTime();
      reader = open;
    }
    return open;
  }

  /** Reads up to the ends if Postgres is not known to reflect everything. */
  private void readToEnds() throws InterruptedException {
    PublishedTopicReader from = reader();
    if (from.isComplete()) {
      return;
    }
    log.info("Reading back what was published before this server of Postgres began to answer");
    if (!relay.isIdle()) {
      // Their decisions may be lost. Once they are published, they are read back with the others.
      close();
      awaitOwnPublications();
      from = reader();
    }
    long records = 0;
    while (!from.completeAtEnds(state)) {
      if (stopping) {
        return;
      }
      List<ConsumerRecord<byte[], byte[]>> read = from.read(POLL_TIMEOUT);
      restoreAndAdvance(from, read);
      records += read.size();
    }
    step.succeeded();
    log.info("Postgres reflects everything that was published; {} records were compared", records);
  }

  private void awaitOwnPublications() throws InterruptedException {
    long start = System.nanoTime();
    while (!stopping
        && !relay.isIdle()
        && System.nanoTime() - start < LONGEST_PUBLICATION.toNanos()) {
      TimeUnit.MILLISECONDS.sleep(POLL_INTERVAL.toMillis());
    }
  }

  private void follow() throws InterruptedException {
    PublishedTopicReader from = reader();
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

  private void restoreAndAdvance(
      PublishedTopicReader from, List<ConsumerRecord<byte[], byte[]>> records) {
    List<OutboxEvent> events = new ArrayList<>();
    Map<TopicPartition, Long> advanced =
        Objects.requireNonNull(
            transactions.execute(
                status -> {
                  events.addAll(restore(from, records));
                  return from.advance(state);
                }));
    from.advanced(advanced);
    relay.publish(events);
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
        records.stream()
            .filter(record -> missing.contains(PublishedRecords.orderId(record)))
            .map(record -> PublishedRecords.cancellation(record, from.layout()))
            .flatMap(Optional::stream)
            .toList();
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
    List<PublishedConflict> lost =
        lostDecisions
            .unknownConflicts(
                conflicts.stream().map(conflict -> conflict.decision().orderId()).toList(),
                conflicts.stream().map(PublishedConflict::paymentId).toList())
            .stream()
            .map(conflicts::get)
            .toList();
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
