package io.ordertimeout.orders.relay;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.PublishedEvents;
import io.ordertimeout.orders.deadline.PublishedEvents.Publication;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxRows;
import io.ordertimeout.orders.platform.kafka.PartitionLeaders;
import io.ordertimeout.orders.platform.kafka.PartitionLeaders.TopicLeaders;
import io.ordertimeout.orders.platform.kafka.TopicSenders;
import io.ordertimeout.orders.platform.monitoring.AmountMetrics;
import io.ordertimeout.orders.platform.monitoring.BackgroundLoop;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Publishes committed outbox events to Kafka and deletes the rows that Kafka acknowledged.
 *
 * <p>Events arrive directly from the transactions that wrote them. Whatever a crash, an outage or a
 * full queue left in Postgres is found by a sweep of the owned shards: immediately when a shard is
 * taken over, and periodically otherwise.
 *
 * <p>Each partition of an output topic has a queue of its own, and fails and recovers by itself:
 * the relay's thread waits neither for a topic nor for an acknowledgement. Thread-safe.
 */
@Component
public class OutboxRelay extends BackgroundLoop {

  private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);

  /** Younger rows may still be on their way here in memory. */
  private static final Duration GRACE = Duration.ofSeconds(3);

  private static final Duration RETRY = Duration.ofSeconds(1);
  private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration IDLE = Duration.ofMillis(100);
  private static final int SWEEP_LIMIT = 10_000;

  private final OutboxRows outbox;
  private final PublishedEvents published;
  private final EventPublisher publisher;
  private final PartitionLeaders leaders;
  private final TopicSenders senders;
  private final AmountMetrics amounts;
  private final OrderTimeoutProperties.Outbox settings;
  private final StepHealth health;

  /** Events from other threads. */
  private final BlockingQueue<OutboxEvent> incoming;

  /** Results of requests to Kafka, which the relay's thread handles. */
  private final Queue<Runnable> results = new ConcurrentLinkedQueue<>();

  /** Wakes the relay's thread. */
  private final Semaphore work = new Semaphore(0);

  /** The events that are in memory. Not by row: a Postgres that lost commits reuses row ids. */
  private final Set<OutboxEvent.Key> inFlight = ConcurrentHashMap.newKeySet();

  private final Set<Integer> shards = ConcurrentHashMap.newKeySet();

  // Confined to the relay's thread.
  private final Map<TopicPartition, TargetQueue> queues = new HashMap<>();
  private final Map<String, TopicState> topics = new HashMap<>();

  /** Published but not deleted yet; confined to the relay's thread. */
  private final List<Publication> acknowledged = new ArrayList<>();

  /** Rows whose events Kafka rejects for what they contain; confined to the relay's thread. */
  private final Set<OutboxEvent.Key> rejected = new HashSet<>();

  /** The rejected rows that the current sweep has found; confined to the relay's thread. */
  private final Set<OutboxEvent.Key> rejectedFound = new HashSet<>();

  /** The last row that the current sweep has read; confined to the relay's thread. */
  private long sweptUpTo;

  private final CountDownLatch flushed = new CountDownLatch(1);
  private volatile long nextSweepNanos = System.nanoTime();
  private volatile long unpublished;
  private volatile boolean adopted;
  private volatile boolean followUp;
  private volatile boolean flushing;

  OutboxRelay(
      OutboxRows outbox,
      PublishedEvents published,
      EventPublisher publisher,
      PartitionLeaders leaders,
      TopicSenders senders,
      AmountMetrics amounts,
      StepHealthRegistry registry,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    super(
        registry.step("outbox-relay"),
        LifecyclePhases.RELAY,
        RETRY,
        "its events stay in the outbox, none is lost");
    this.health = registry.step("outbox-relay");
    this.outbox = outbox;
    this.published = published;
    this.publisher = publisher;
    this.leaders = leaders;
    this.senders = senders;
    this.amounts = amounts;
    this.settings = properties.outbox();
    this.incoming = new LinkedBlockingQueue<>(settings.queueCapacity());
    Gauge.builder("order.timeout.outbox.unpublished", this, OutboxRelay::unpublished)
        .description("Events of the owned shards that Kafka has not acknowledged yet")
        .register(meters);
  }

  /** Accepts events whose transaction is committed; never blocks. */
  public void publish(List<? extends OutboxEvent> events) {
    for (OutboxEvent event : events) {
      if (inFlight.add(event.key()) && !incoming.offer(event)) {
        inFlight.remove(event.key());
        sweepSoon();
      }
    }
    work.release();
  }

  /** Makes this instance responsible for the shard's rows in the outbox. */
  public void adopt(int shard) {
    shards.add(shard);
    adopted = true;
    followUp = true;
    sweepIn(Duration.ZERO);
  }

  /** Ends the responsibility for the shard. */
  public void abandon(int shard) {
    shards.remove(shard);
  }

  /**
   * Looks for events in the outbox that nobody has handed over, because the result of the
   * transaction that wrote them was lost: after a second, and again once the events that were just
   * written exceed the grace.
   */
  public void findLeftBehind() {
    sweepSoon();
  }

  /** Returns whether every event that this instance has in memory is published and recorded. */
  public boolean isIdle() {
    return inFlight.isEmpty();
  }

  /**
   * Returns how many events of the owned shards Kafka has not acknowledged, as counted every few
   * seconds.
   */
  public long unpublished() {
    return unpublished;
  }

  @Scheduled(fixedDelay = 5, timeUnit = TimeUnit.SECONDS)
  void count() {
    try {
      unpublished = shards.isEmpty() ? 0 : outbox.count(shards);
    } catch (RuntimeException | Error e) {
      log.warn("The outbox could not be counted; its metric is not updated: {}", e.toString());
    }
  }

  /** Sweeps after a moment, and again once rows that are being written now exceed the grace. */
  private void sweepSoon() {
    followUp = true;
    sweepIn(RETRY);
  }

  private void sweepIn(Duration delay) {
    long at = System.nanoTime() + delay.toNanos();
    if (at - nextSweepNanos < 0) {
      nextSweepNanos = at;
    }
    work.release();
  }

  @Override
  protected void runOnce() throws InterruptedException {
    if (work.tryAcquire(IDLE.toMillis(), TimeUnit.MILLISECONDS)) {
      work.drainPermits();
    }
    if (adopted) {
      adopted = false;
      publisher.topics().forEach(topic -> topic(topic).want());
    }
    for (Runnable result = results.poll(); result != null; result = results.poll()) {
      result.run();
    }
    accept();
    send();
    lookUpTopics();
    recordAcknowledged();
    if (flushing && isFlushed()) {
      flushed.countDown();
    }
    if (System.nanoTime() - nextSweepNanos >= 0) {
      sweep();
    }
  }

  private void onResult(Runnable handler) {
    results.add(handler);
    work.release();
  }

  private TopicState topic(String name) {
    return topics.computeIfAbsent(name, unknown -> new TopicState(unknown, System.nanoTime()));
  }

  /** Moves events of other threads to the queues of their partitions. */
  private void accept() {
    int room = room();
    while (room > 0) {
      OutboxEvent event = incoming.poll();
      if (event == null) {
        return;
      }
      if (enqueue(event)) {
        room--;
      }
    }
  }

  /** How many more events the queues may keep together; those of blocked queues do not count. */
  private int room() {
    long now = System.nanoTime();
    return settings.queueCapacity()
        - queues.values().stream()
            .filter(queue -> !queue.isBlocked(now))
            .mapToInt(TargetQueue::size)
            .sum();
  }

  /** Adds an event to the queue of its partition; returns false if it stays in Postgres instead. */
  private boolean enqueue(OutboxEvent event) {
    TopicState topic = topic(publisher.topic(event));
    int partition = topic.partition(event.orderId().getBytes(StandardCharsets.UTF_8));
    TargetQueue queue =
        queues.computeIfAbsent(
            new TopicPartition(topic.name(), partition),
            target -> new TargetQueue(target, settings.batchSize()));
    if (queue.add(event, System.nanoTime())) {
      return true;
    }
    inFlight.remove(event.key());
    return false;
  }

  private void send() {
    long now = System.nanoTime();
    for (TargetQueue queue : queues.values()) {
      TopicState topic = topic(queue.target().topic());
      if (topic.hasLeader(queue.target().partition())) {
        OutboxEvent event = queue.take(now, topic.seenNanos());
        while (event != null) {
          send(event, queue);
          event = queue.take(now, topic.seenNanos());
        }
      }
      queue
          .shed(now, event -> shards.contains(event.shard()))
          .forEach(event -> inFlight.remove(event.key()));
    }
    queues.values().removeIf(queue -> queue.isEmpty() && !queue.isIncomplete());
  }

  private void send(OutboxEvent event, TargetQueue queue) {
    CompletableFuture<RecordMetadata> unused =
        publisher
            .send(event)
            .whenComplete(
                (metadata, failure) -> onResult(() -> sent(event, queue, metadata, failure)));
  }

  private void sent(
      OutboxEvent event,
      TargetQueue queue,
      @Nullable RecordMetadata metadata,
      @Nullable Throwable failure) {
    long now = System.nanoTime();
    if (metadata != null) {
      TopicPartition partition = new TopicPartition(metadata.topic(), metadata.partition());
      acknowledged.add(new Publication(event, partition, metadata.offset()));
      rejected.remove(event.key());
      queue.acknowledged(event, now);
      if (queue.isIncomplete() && !queue.isFailing()) {
        // Kafka accepts again what the queue did not keep.
        queue.complete();
        sweptUpTo = 0;
        followUp = true;
        sweepIn(Duration.ZERO);
      }
      if (!partition.equals(queue.target())) {
        topic(partition.topic()).want(); // partitions were added
      }
    } else if (isRejection(failure)) {
      queue.rejected(event, now);
      rejected.add(event.key());
      inFlight.remove(event.key());
      failed("Kafka rejected event " + event.id() + " of the outbox", failure);
    } else {
      queue.failed(event, now);
      failed("Kafka did not accept an event for " + queue.target(), failure);
    }
  }

  /** Whether the event would be refused by any partition; it must not delay others. */
  private static boolean isRejection(@Nullable Throwable failure) {
    return failure instanceof RecordTooLargeException || failure instanceof InvalidRecordException;
  }

  private void failed(String what, @Nullable Throwable failure) {
    health.failed(
        "events wait in the outbox, none is lost; other partitions are not affected",
        new KafkaException(what, failure));
  }

  /** Starts to look up the topics of which something must be known before events can be sent. */
  private void lookUpTopics() {
    for (TargetQueue queue : queues.values()) {
      TopicState topic = topic(queue.target().topic());
      boolean outdated = queue.isFailing() && topic.seenNanos() - queue.failedAtNanos() <= 0;
      if (queue.size() > 0 && (outdated || !topic.hasLeader(queue.target().partition()))) {
        topic.want();
      }
    }
    long now = System.nanoTime();
    for (TopicState topic : topics.values()) {
      if (topic.startLookUp(now)) {
        CompletableFuture<TopicLeaders> unused =
            leaders
                .of(topic.name())
                .whenComplete(
                    (found, failure) -> onResult(() -> lookedUp(topic, now, found, failure)));
      }
    }
  }

  private void lookedUp(
      TopicState topic,
      long startNanos,
      @Nullable TopicLeaders found,
      @Nullable Throwable failure) {
    boolean wasKnown = topic.isKnown();
    int count = topic.count();
    topic.lookedUp(startNanos, System.nanoTime(), found);
    if (topic.isKnown() && !wasKnown) {
      senders.prepare(topic.name());
    }
    if (topic.count() != count) {
      distributeAgain(topic);
    }
    for (TargetQueue queue : queues.values()) {
      TopicPartition target = queue.target();
      if (target.topic().equals(topic.name())
          && queue.size() > 0
          && !topic.hasLeader(target.partition())) {
        queue.fail(System.nanoTime());
        failed(
            topic.isKnown() ? target + " has no leader" : "cannot find " + topic.name(), failure);
      }
    }
  }

  /** Moves the events of a topic to the queues of other partitions, as their number has changed. */
  private void distributeAgain(TopicState topic) {
    List<OutboxEvent> events = new ArrayList<>();
    queues.values().stream()
        .filter(queue -> queue.target().topic().equals(topic.name()))
        .forEach(queue -> events.addAll(queue.takeWaiting()));
    events.sort(Comparator.comparingLong(OutboxEvent::id));
    events.forEach(this::enqueue);
  }

  private void recordAcknowledged() {
    while (!acknowledged.isEmpty()) {
      List<Publication> batch =
          acknowledged.subList(0, Math.min(acknowledged.size(), settings.batchSize()));
      amounts.cancelled(published.record(batch));
      batch.forEach(publication -> inFlight.remove(publication.event().key()));
      batch.clear();
      reportSuccess();
    }
  }

  private void reportSuccess() {
    if (rejected.isEmpty() && queues.values().stream().noneMatch(TargetQueue::isFailing)) {
      health.succeeded();
    }
  }

  private boolean isFlushed() {
    long now = System.nanoTime();
    return incoming.isEmpty()
        && acknowledged.isEmpty()
        && queues.values().stream().allMatch(queue -> queue.isEmpty() || queue.isBlocked(now));
  }

  private void sweep() {
    nextSweepNanos = System.nanoTime() + settings.sweepInterval().toNanos();
    if (shards.isEmpty()) {
      sweptUpTo = 0;
      reportSuccess();
      return;
    }
    if (followUp) {
      // Rows that the previous owner or this instance has just written exceed the grace by then.
      followUp = false;
      sweepIn(GRACE);
    }
    if (sweptUpTo == 0) {
      queues.values().forEach(TargetQueue::complete);
      rejectedFound.clear();
    }
    List<OutboxEvent> left = leftBehind();
    int room = room();
    int found = 0;
    for (OutboxEvent event : left) {
      if (rejected.contains(event.key())) {
        rejectedFound.add(event.key());
      }
      if (inFlight.contains(event.key())) {
        continue;
      }
      if (found == room) {
        sweepIn(RETRY);
        break;
      }
      inFlight.add(event.key());
      if (enqueue(event)) {
        found++;
      }
    }
    if (found > 0) {
      log.info("Found {} events left in the outbox; publishing them", found);
    }
    if (left.size() == SWEEP_LIMIT) {
      sweptUpTo = Objects.requireNonNull(left.get(left.size() - 1)).id();
      sweepIn(found == 0 ? Duration.ZERO : RETRY);
    } else {
      sweptUpTo = 0;
      rejected.retainAll(rejectedFound);
      reportSuccess();
    }
  }

  private List<OutboxEvent> leftBehind() {
    try {
      return outbox.leftBehind(shards, sweptUpTo, GRACE.toMillis() / 1e3, SWEEP_LIMIT);
    } catch (RuntimeException | Error e) {
      sweepSoon();
      throw e;
    }
  }

  /** Publishes the queued events, as far as Kafka accepts them, and ends the loop. */
  @Override
  public void stop() {
    flushing = true;
    try {
      if (!flushed.await(FLUSH_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        log.warn(
            "{} events stay in the outbox for the next owners of their shards", inFlight.size());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    super.stop();
  }
}
