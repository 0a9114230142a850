package io.ordertimeout.orders.relay;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.PublishedEvents;
import io.ordertimeout.orders.order.PublishedEvents.Publication;
import io.ordertimeout.orders.order.UnpublishedEvents;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.platform.kafka.PartitionLeaders;
import io.ordertimeout.orders.platform.kafka.PartitionLeaders.TopicLeaders;
import io.ordertimeout.orders.platform.kafka.ReadBackState;
import io.ordertimeout.orders.platform.kafka.ReflectedServer;
import io.ordertimeout.orders.platform.kafka.TopicSenders;
import io.ordertimeout.orders.platform.monitoring.AmountMetrics;
import io.ordertimeout.orders.platform.monitoring.BackgroundLoop;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
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
 * Publishes committed outbox events to Kafka and deletes the rows that Kafka acknowledged.
 *
 * <p>Events arrive directly from the transactions that wrote them. Whatever a crash, an outage or a
 * full queue left in Postgres is found by a {@linkplain OutboxSweep sweep} of the owned shards:
 * immediately when a shard is taken over, and periodically otherwise.
 *
 * <p>Each partition of an output topic has a queue of its own, and fails and recovers by itself:
 * the relay's thread waits neither for a topic nor for an acknowledgement. Thread-safe.
 */
@Component
public class OutboxRelay extends BackgroundLoop {

  private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);

  private static final Duration RETRY = Duration.ofSeconds(1);
  private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration IDLE = Duration.ofMillis(100);

  private final OutboxSweep sweep;
  private final ReadBackState readBack;
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

  /** The number of events that are sent and not acknowledged. */
  private final AtomicInteger onTheirWay = new AtomicInteger();

  private final Set<Integer> shards = ConcurrentHashMap.newKeySet();

  // Confined to the relay's thread.
  private final TargetQueues queues;
  private final RejectedEvents rejected = new RejectedEvents();
  private final SweptEvents swept = new SweptEvents();
  // Published but not deleted yet.
  private final List<Publication> acknowledged = new ArrayList<>();
  // How often unsent events were forgotten: what was sent before is not sent again if it fails.
  private int forgotten;

  private final CountDownLatch flushed = new CountDownLatch(1);
  private volatile long unpublished;
  private volatile boolean adopted;
  private volatile boolean flushing;
  private volatile boolean forgetting;

  OutboxRelay(
      UnpublishedEvents waiting,
      ReadBackState readBack,
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
    this.readBack = readBack;
    this.published = published;
    this.publisher = publisher;
    this.leaders = leaders;
    this.senders = senders;
    this.amounts = amounts;
    this.settings = properties.outbox();
    this.sweep = new OutboxSweep(waiting, readBack, settings.sweepInterval(), work::release);
    this.incoming = new LinkedBlockingQueue<>(settings.queueCapacity());
    this.queues = new TargetQueues(settings.batchSize());
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
    send();
    lookUpTopics();
    recordAcknowledged();
    if (flushing && isFlushed()) {
      flushed.countDown();
    }
    if (sweep.isDue()) {
      acceptLeftBehind(sweep.next(shards));
    }
    unpublished = Math.max(inFlight.size(), swept.count(shards));
  }

  private void awaitWork() throws InterruptedException {
    if (work.tryAcquire(IDLE.toMillis(), TimeUnit.MILLISECONDS)) {
      work.drainPermits();
    }
  }

  private void lookUpTopicsOnAdoption() {
    if (adopted) {
      adopted = false;
      publisher.topics().forEach(queues::wantLookUp);
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
    queues.forEach(queue -> unsent.addAll(queue.takeUnsent()));
    unsent.forEach(event -> inFlight.remove(event.key()));
    forgotten++;
    sweep.restart();
    forgetting = false;
  }

  /** Moves events of other threads to the queues of their partitions. */
  private void acceptIncoming() {
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
    return settings.queueCapacity() - queues.size();
  }

  /** Adds an event to the queue of its partition; returns false if it stays in Postgres instead. */
  private boolean enqueue(OutboxEvent event) {
    if (queues.add(publisher.topic(event), event)) {
      return true;
    }
    inFlight.remove(event.key());
    return false;
  }

  private void send() {
    long now = System.nanoTime();
    for (TargetQueue queue : queues) {
      OutboxEvent event = queues.take(queue, now);
      while (event != null) {
        send(event, queue);
        event = queues.take(queue, now);
      }
      queue
          .shed(now, waiting -> shards.contains(waiting.shard()))
          .forEach(shed -> inFlight.remove(shed.key()));
    }
    queues.removeUnused();
  }

  private void send(OutboxEvent event, TargetQueue queue) {
    onTheirWay.incrementAndGet();
    int before = forgotten;
    CompletableFuture<RecordMetadata> unused =
        publisher
            .send(event)
            .whenComplete(
                (metadata, failure) ->
                    onResult(() -> sent(event, queue, before != forgotten, metadata, failure)));
  }

  private void sent(
      OutboxEvent event,
      TargetQueue queue,
      boolean isForgotten,
      @Nullable RecordMetadata metadata,
      @Nullable Throwable failure) {
    long now = System.nanoTime();
    onTheirWay.decrementAndGet();
    if (metadata != null) {
      TopicPartition partition = new TopicPartition(metadata.topic(), metadata.partition());
      acknowledged.add(new Publication(event, partition, metadata.offset()));
      rejected.remove(event);
      queue.acknowledged(event, now);
      if (queue.isIncomplete() && !queue.isFailing()) {
        // Kafka accepts again what the queue did not keep.
        queue.complete();
        sweep.restart();
      }
      if (!partition.equals(queue.target())) {
        queues.wantLookUp(partition.topic()); // partitions were added
      }
    } else if (isRejection(failure)) {
      queue.rejected(event, now);
      rejected.add(event);
      inFlight.remove(event.key());
      failed("Kafka rejected event " + event.id() + " of the outbox", failure);
    } else if (isForgotten) {
      queue.rejected(event, now);
      inFlight.remove(event.key());
      // The sweep that began when it was forgotten has passed it over, because it was in memory.
      sweep.requestSoon();
      failed("Kafka did not accept an event for " + queue.target(), failure);
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
    queues.wantLookUps();
    long now = System.nanoTime();
    for (TopicState topic : queues.topics()) {
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
    if (topic.count() != count) {
      // The events of an order belong to another partition now.
      queues.takeWaiting(topic).forEach(this::enqueue);
    }
    for (TargetQueue queue : queues.withoutLeader(topic)) {
      queue.fail(System.nanoTime());
      failed(
          topic.isKnown() ? queue.target() + " has no leader" : "cannot publish to " + topic.name(),
          failure);
    }
  }

  private void recordAcknowledged() {
    while (!acknowledged.isEmpty()) {
      List<Publication> batch =
          acknowledged.subList(0, Math.min(acknowledged.size(), settings.batchSize()));
      amounts.cancelled(published.record(batch));
      for (Publication publication : batch) {
        inFlight.remove(publication.event().key());
        swept.remove(publication.event());
      }
      batch.clear();
      reportSuccess();
    }
  }

  private void reportSuccess() {
    if (rejected.isEmpty() && !queues.isAnyFailing()) {
      health.succeeded();
    }
  }

  private boolean isFlushed() {
    return incoming.isEmpty() && acknowledged.isEmpty() && queues.isEmpty();
  }

  /** Queues the events of a sweep that are not in memory. */
  private void acceptLeftBehind(Page page) {
    if (page.isFirst()) {
      queues.forEach(TargetQueue::complete);
      rejected.beginSweep();
      swept.beginSweep();
    }
    int room = room();
    int found = 0;
    @Nullable OutboxEvent withoutRoom = null;
    for (OutboxEvent event : page.events()) {
      rejected.find(event);
      boolean known = inFlight.contains(event.key());
      if (!known && found >= room) {
        withoutRoom = event;
        break;
      }
      swept.add(event);
      if (known) {
        continue;
      }
      inFlight.add(event.key());
      if (!isPublishable(event, page.reflected())) {
        inFlight.remove(event.key());
      } else if (enqueue(event)) {
        found++;
      }
    }
    if (found > 0) {
      log.info("Found {} events left in the outbox; publishing them", found);
    }
    if (withoutRoom != null) {
      sweep.continueSoonFrom(withoutRoom);
    } else if (page.isLast()) {
      sweep.end();
      rejected.endSweep();
      swept.endSweep();
      reportSuccess();
    } else if (found > 0) {
      sweep.continueSoon();
    } else {
      sweep.continueNow();
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
