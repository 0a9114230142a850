package io.ordertimeout.orders.relay;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.OutboxStore;
import io.ordertimeout.orders.order.OutboxStore.Acknowledged;
import io.ordertimeout.orders.order.OutboxStore.Position;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.platform.kafka.PartitionLeaders;
import io.ordertimeout.orders.platform.kafka.PartitionLeaders.TopicLeaders;
import io.ordertimeout.orders.platform.kafka.TopicSenders;
import io.ordertimeout.orders.platform.loop.BackgroundLoop;
import io.ordertimeout.orders.platform.monitoring.AmountMetrics;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.position.ReadBackState;
import io.ordertimeout.orders.position.ReflectedServer;
import io.ordertimeout.orders.relay.OutboxSweep.Page;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Publishes committed outbox events to Kafka and records in their rows that Kafka acknowledged
 * them.
 *
 * <p>Events arrive directly from the transactions that wrote them and are sent at once. What is not
 * acknowledged is forgotten, and found in Postgres by a {@linkplain OutboxSweep sweep} of the owned
 * shards: immediately when a shard is taken over or a partition accepts events again, and
 * periodically otherwise.
 *
 * <p>Each partition of an output topic fails and recovers by itself: the relay's thread waits
 * neither for a topic nor for an acknowledgement. Events of the same partition are sent in the
 * order of their decisions; one that has failed is sent after those that follow it. Thread-safe.
 */
@Component
public class OutboxRelay extends BackgroundLoop {

  private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);

  private static final Duration RETRY = Duration.ofSeconds(1);
  private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration IDLE = Duration.ofMillis(100);

  /**
   * How long acknowledged events are collected before they are recorded together: a transaction for
   * each would be most of the transactions of an instance. A crash meanwhile repeats them.
   */
  private static final Duration COLLECT = Duration.ofMillis(50);

  /** How many batches of acknowledged events may be on their way to a partition. */
  private static final int BATCHES_PER_TARGET = 10;

  private final OutboxSweep sweep;
  private final ReadBackState readBack;
  private final OutboxStore outbox;
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

  /** The number of events that are sent and not acknowledged. */
  private final AtomicInteger onTheirWay = new AtomicInteger();

  private final Set<Integer> shards = ConcurrentHashMap.newKeySet();

  // Confined to the relay's thread.
  private final Targets targets;
  private final LeftBehind leftBehind = new LeftBehind();
  // Published, but that is not recorded yet; and since when there has been any.
  private final List<Acknowledged> acknowledged = new ArrayList<>();
  private long acknowledgedSince;
  // How often unsent events were forgotten: what was sent before is not sent again if it fails.
  private int forgotten;

  private final CountDownLatch flushed = new CountDownLatch(1);
  private volatile long unpublished;
  private volatile boolean adopted;
  private volatile boolean flushing;
  private volatile boolean forgetting;

  OutboxRelay(
      OutboxStore outbox,
      ReadBackState readBack,
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
    this.readBack = readBack;
    this.outbox = outbox;
    this.publisher = publisher;
    this.leaders = leaders;
    this.senders = senders;
    this.amounts = amounts;
    this.settings = properties.outbox();
    this.sweep = new OutboxSweep(outbox, readBack, settings.sweepInterval(), work::release);
    this.incoming = new LinkedBlockingQueue<>(settings.queueCapacity());
    this.targets = new Targets(BATCHES_PER_TARGET * settings.batchSize());
    Gauge.builder("order.timeout.outbox.unpublished", this, OutboxRelay::unpublished)
        .description("Events of the owned shards that Kafka has not acknowledged yet")
        .register(meters);
  }

  /**
   * Accepts events whose transaction is committed; never blocks. Events of orders that are not
   * reflected stay in Postgres, for the sweep that follows the read-back: until then, a lost
   * decision may turn up that they have to tell of. So do cancellations of orders whose creations,
   * of which they have to tell, are still to be read again.
   *
   * @param reflected what the server that committed them was known to reflect before it began the
   *     transaction
   */
  public void publish(List<? extends OutboxEvent> events, ReflectedServer reflected) {
    for (OutboxEvent event : events) {
      if (!inFlight.add(event.key())) {
        continue;
      }
      if (!isPublishable(event, reflected)) {
        inFlight.remove(event.key());
      } else if (!incoming.offer(event)) {
        inFlight.remove(event.key());
        sweep.requestSoon();
      }
    }
    work.release();
  }

  /**
   * Returns whether the event is complete, all that was published about its order is reflected, and
   * no other server was noticed since. Call this after the event is added to those in memory: if
   * another server is noticed later, all of those are forgotten.
   */
  private boolean isPublishable(OutboxEvent event, ReflectedServer reflected) {
    return !(event instanceof OrderCancelled cancellation && cancellation.createdAt() == null)
        && reflected.reflects(event.orderId())
        && reflected.identity().equals(readBack.reflected().identity());
  }

  /** Makes this instance responsible for the shard's rows in the outbox. */
  public void adopt(int shard) {
    shards.add(shard);
    adopted = true;
    sweep.restart();
  }

  /** Ends the responsibility for the shard. */
  public void abandon(int shard) {
    shards.remove(shard);
  }

  /**
   * Looks for events in the outbox that nobody has handed over, because the result of the
   * transaction that wrote them was lost, or because what was published about their orders was not
   * read back: after a second, and again once the events that were just written exceed the grace.
   */
  public void findLeftBehind() {
    sweep.requestSoon();
  }

  /**
   * Forgets the events that are not sent yet, because another server of Postgres answers: it may
   * have lost their decisions, and make them again at another time. Those that it contains are
   * found by a sweep.
   */
  public void forgetUnsent() {
    if (!inFlight.isEmpty()) {
      forgetting = true;
      work.release();
    }
  }

  /**
   * Returns whether no event is on its way to Kafka, nor any to be forgotten: whatever was sent is
   * appended by now, or never will be.
   */
  public boolean isSettled() {
    return !forgetting && onTheirWay.get() == 0;
  }

  /**
   * Returns how many events of the owned shards Kafka has not acknowledged: those in memory, or
   * those that the last sweep found and that are not published since, whichever are more.
   */
  public long unpublished() {
    return unpublished;
  }

  @Override
  protected void runOnce() throws InterruptedException {
    awaitWork();
    lookUpTopicsOnAdoption();
    handleResults();
    if (forgetting) {
      forget();
    }
    acceptIncoming();
    sendProbes();
    lookUpTopics();
    recordAcknowledged();
    if (flushing && isFlushed()) {
      flushed.countDown();
    }
    if (sweep.isDue()) {
      acceptLeftBehind(sweep.next(shards));
    }
    unpublished = Math.max(inFlight.size(), leftBehind.count(shards));
  }

  private void awaitWork() throws InterruptedException {
    long nanos = acknowledged.isEmpty() ? IDLE.toNanos() : Math.max(0, nanosToCollect());
    if (work.tryAcquire(nanos, TimeUnit.NANOSECONDS)) {
      work.drainPermits();
    }
  }

  private long nanosToCollect() {
    return acknowledgedSince + COLLECT.toNanos() - System.nanoTime();
  }

  private void lookUpTopicsOnAdoption() {
    if (adopted) {
      adopted = false;
      publisher.topics().forEach(targets::wantLookUp);
    }
  }

  private void handleResults() {
    for (Runnable result = results.poll(); result != null; result = results.poll()) {
      result.run();
    }
  }

  private void onResult(Runnable handler) {
    results.add(handler);
    work.release();
  }

  private void forget() {
    List<OutboxEvent> unsent = new ArrayList<>();
    incoming.drainTo(unsent);
    unsent.forEach(this::forget);
    targets.forEach(target -> forget(target.removeProbe()));
    forgotten++;
    sweep.restart();
    forgetting = false;
  }

  private void forget(@Nullable OutboxEvent event) {
    if (event != null) {
      inFlight.remove(event.key());
    }
  }

  private void acceptIncoming() {
    for (OutboxEvent event = incoming.poll(); event != null; event = incoming.poll()) {
      if (publisher.isOver(event)) {
        forget(event); // A sweep deletes it.
      } else if (!hasRoom(event)) {
        forget(event);
        sweep.requestSoon();
      } else {
        sendOrLeaveBehind(event);
      }
    }
  }

  /** Whether an event can be sent now, or its partition is blocked, so that it need not be. */
  private boolean hasRoom(OutboxEvent event) {
    long now = System.nanoTime();
    Target target = target(event);
    return targets.isBlocked(target, now)
        || (targets.takes(target, now) && onTheirWay.get() < settings.queueCapacity());
  }

  private Target target(OutboxEvent event) {
    return targets.of(publisher.topic(event), event.orderId());
  }

  /** Sends an event; returns false if it stays in Postgres because its partition is blocked. */
  private boolean sendOrLeaveBehind(OutboxEvent event) {
    Target target = target(event);
    if (targets.takes(target, System.nanoTime())) {
      send(event, target);
      return true;
    }
    forget(target.leaveBehind(event));
    return false;
  }

  private void sendProbes() {
    long now = System.nanoTime();
    for (Target target : targets) {
      OutboxEvent probe = target.probe();
      if (probe != null && (!shards.contains(probe.shard()) || publisher.isOver(probe))) {
        forget(target.removeProbe()); // Somebody else publishes it, or nobody has to.
      }
      OutboxEvent due = targets.takeProbe(target, now);
      if (due != null) {
        send(due, target);
      }
    }
  }

  private void send(OutboxEvent event, Target target) {
    onTheirWay.incrementAndGet();
    target.sent(System.nanoTime());
    int before = forgotten;
    CompletableFuture<RecordMetadata> unused =
        publisher
            .send(event)
            .whenComplete(
                (metadata, failure) ->
                    onResult(() -> sent(event, target, before != forgotten, metadata, failure)));
  }

  private void sent(
      OutboxEvent event,
      Target target,
      boolean isForgotten,
      @Nullable RecordMetadata metadata,
      @Nullable Throwable failure) {
    long now = System.nanoTime();
    onTheirWay.decrementAndGet();
    if (metadata != null) {
      TopicPartition partition = new TopicPartition(metadata.topic(), metadata.partition());
      if (acknowledged.isEmpty()) {
        acknowledgedSince = now;
      }
      acknowledged.add(new Acknowledged(event, partition, metadata.offset()));
      if (target.acknowledged(now)) {
        sweep.restart();
      }
      if (!partition.equals(target.partition())) {
        targets.wantLookUp(partition.topic()); // partitions were added
      }
    } else if (isRejection(failure)) {
      target.rejected(now);
      if (target.isBlocked(now)) {
        sweep.requestSoon(); // for an event of another order
      }
      leftBehind.rejected(event);
      forget(event);
      failed("Kafka rejected the event of order row " + event.orderRow(), failure);
    } else {
      target.failed(event, now);
      failed("Kafka did not accept an event for " + target.partition(), failure);
      if (isForgotten) {
        forget(event);
        // The sweep that began when it was forgotten has passed it over, because it was in memory.
        sweep.requestSoon();
      } else {
        forget(target(event).leaveBehind(event));
      }
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
    targets.wantLookUps();
    long now = System.nanoTime();
    for (TopicState topic : targets.topics()) {
      if (topic.startLookUp(now)) {
        CompletableFuture<TopicLeaders> unused =
            leaders
                .of(topic.name())
                .thenCombine(publisher.prepare(topic.name()), (found, prepared) -> found)
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
    if (topic.isKnown() && topic.count() != count) {
      // The events of an order belong to another partition now.
      targets.of(topic).forEach(target -> forget(target.removeProbe()));
      sweep.restart();
    }
    for (Target target : targets.of(topic)) {
      if (target.probe() != null && !targets.hasLeader(target)) {
        target.fail(System.nanoTime());
        failed(
            topic.isKnown()
                ? target.partition() + " has no leader"
                : "cannot publish to " + topic.name(),
            failure);
      }
    }
  }

  private void recordAcknowledged() {
    while (acknowledged.size() >= settings.batchSize()
        || (!acknowledged.isEmpty() && (flushing || nanosToCollect() <= 0))) {
      List<Acknowledged> batch =
          acknowledged.subList(0, Math.min(acknowledged.size(), settings.batchSize()));
      amounts.cancelled(outbox.record(batch));
      for (Acknowledged published : batch) {
        forget(published.event());
        leftBehind.published(published.event());
      }
      batch.clear();
      reportSuccess();
    }
  }

  private void reportSuccess() {
    if (!leftBehind.isAnyRejected() && !targets.isAnyFailing()) {
      health.succeeded();
    }
  }

  private boolean isFlushed() {
    return incoming.isEmpty() && acknowledged.isEmpty() && targets.isIdle();
  }

  /** Sends the events of a sweep that are not in memory. */
  private void acceptLeftBehind(Page page) {
    if (page.isFirst()) {
      leftBehind.beginSweep();
    }
    int found = 0;
    Position accepted = null;
    for (OutboxEvent event : page.events()) {
      boolean known = inFlight.contains(event.key());
      if (!known && !hasRoom(event)) {
        reportFound(found);
        sweep.continueSoonAfter(accepted);
        return;
      }
      if (publisher.isOver(event)) {
        continue;
      }
      leftBehind.found(event);
      accepted = Position.of(event);
      if (known) {
        continue;
      }
      inFlight.add(event.key());
      if (!isPublishable(event, page.reflected())) {
        forget(event);
      } else if (sendOrLeaveBehind(event)) {
        found++;
      }
    }
    reportFound(found);
    if (page.isLast()) {
      sweep.end();
      leftBehind.endSweep();
      reportSuccess();
    } else if (found > 0) {
      sweep.continueSoon();
    } else {
      sweep.continueNow();
    }
  }

  private static void reportFound(int found) {
    if (found > 0) {
      log.info("Found {} events left in the outbox; publishing them", found);
    }
  }

  /** Publishes the accepted events, as far as Kafka accepts them, and ends the loop. */
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
