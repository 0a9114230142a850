package io.ordertimeout.orders.relay;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.PublishedEvents;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.OutboxRows;
import io.ordertimeout.orders.platform.monitoring.AmountMetrics;
import io.ordertimeout.orders.platform.monitoring.BackgroundLoop;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Publishes committed outbox events to Kafka and deletes the rows that Kafka acknowledged.
 *
 * <p>Events arrive directly from the transactions that wrote them. Whatever a crash, an outage or a
 * full queue left in Postgres is found by a sweep of the owned shards: immediately when a shard is
 * taken over, and periodically otherwise. Thread-safe.
 */
@Component
public class OutboxRelay extends BackgroundLoop {

  private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);

  /** Younger rows may still be on their way here in memory. */
  private static final Duration GRACE = Duration.ofSeconds(3);

  private static final Duration RETRY = Duration.ofSeconds(1);
  private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration IDLE = Duration.ofMillis(250);
  private static final int SWEEP_LIMIT = 10_000;

  private final OutboxRows outbox;
  private final PublishedEvents published;
  private final EventPublisher publisher;
  private final AmountMetrics amounts;
  private final OrderTimeoutProperties.Outbox settings;
  private final StepHealth health;
  private final BlockingQueue<OutboxEvent> queue;
  private final Set<Long> inFlight = ConcurrentHashMap.newKeySet();
  private final Set<Integer> shards = ConcurrentHashMap.newKeySet();

  /** Published but not deleted yet; confined to the relay's thread. */
  private final List<OutboxEvent> acknowledged = new ArrayList<>();

  private final CountDownLatch flushed = new CountDownLatch(1);
  private volatile long nextSweepNanos = System.nanoTime();
  private volatile long unpublished;
  private volatile boolean unprepared;
  private volatile boolean followUp;
  private volatile boolean flushing;

  OutboxRelay(
      OutboxRows outbox,
      PublishedEvents published,
      EventPublisher publisher,
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
    this.amounts = amounts;
    this.settings = properties.outbox();
    this.queue = new LinkedBlockingQueue<>(settings.queueCapacity());
    Gauge.builder("order.timeout.outbox.unpublished", this, OutboxRelay::unpublished)
        .description("Events of the owned shards that Kafka has not acknowledged yet")
        .register(meters);
  }

  /** Accepts events whose transaction is committed; never blocks. */
  public void publish(List<? extends OutboxEvent> events) {
    for (OutboxEvent event : events) {
      if (inFlight.add(event.id()) && !queue.offer(event)) {
        inFlight.remove(event.id());
        sweepSoon();
      }
    }
  }

  /** Makes this instance responsible for the shard's rows in the outbox. */
  public void adopt(int shard) {
    shards.add(shard);
    unprepared = true;
    followUp = true;
    sweepIn(Duration.ZERO);
  }

  /** Ends the responsibility for the shard. */
  public void abandon(int shard) {
    shards.remove(shard);
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
    } catch (RuntimeException e) {
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
  }

  @Override
  protected void runOnce() throws InterruptedException {
    deleteAcknowledged();
    if (unprepared) {
      unprepared = false;
      publisher.prepare();
    }
    OutboxEvent first = queue.poll(IDLE.toMillis(), TimeUnit.MILLISECONDS);
    if (first != null) {
      List<OutboxEvent> batch = new ArrayList<>();
      batch.add(first);
      queue.drainTo(batch, settings.batchSize() - 1);
      send(batch);
      deleteAcknowledged();
    } else if (flushing) {
      flushed.countDown();
    }
    if (System.nanoTime() - nextSweepNanos >= 0) {
      sweep();
    }
  }

  private void send(List<OutboxEvent> batch) throws InterruptedException {
    EventPublisher.Publication publication = publisher.publish(batch);
    acknowledged.addAll(publication.acknowledged());
    Throwable failure = publication.failure();
    if (failure == null) {
      health.succeeded();
      return;
    }
    health.failed("Kafka did not accept events; they stay in the outbox, none is lost", failure);
    batch.removeAll(publication.acknowledged());
    batch.forEach(event -> inFlight.remove(event.id()));
    sweepSoon();
  }

  private void deleteAcknowledged() {
    if (!acknowledged.isEmpty()) {
      amounts.cancelled(published.record(acknowledged));
      acknowledged.forEach(event -> inFlight.remove(event.id()));
      acknowledged.clear();
    }
  }

  private void sweep() {
    nextSweepNanos = System.nanoTime() + settings.sweepInterval().toNanos();
    if (shards.isEmpty()) {
      health.succeeded();
      return;
    }
    if (followUp) {
      // Rows that the previous owner or this instance has just written exceed the grace by then.
      followUp = false;
      sweepIn(GRACE);
    }
    List<OutboxEvent> left = leftBehind();
    if (left.isEmpty() && !health.failingFor().isZero() && outbox.count(shards) == 0) {
      // Otherwise the step would count as failing until there is something to publish again.
      health.succeeded();
    }
    List<OutboxEvent> forgotten =
        left.stream().filter(event -> !inFlight.contains(event.id())).toList();
    if (!forgotten.isEmpty()) {
      log.info("Found {} events left in the outbox; publishing them", forgotten.size());
      publish(forgotten);
    }
    if (left.size() == SWEEP_LIMIT) {
      sweepIn(RETRY);
    }
  }

  private List<OutboxEvent> leftBehind() {
    try {
      return outbox.leftBehind(shards, GRACE.toMillis() / 1e3, SWEEP_LIMIT);
    } catch (RuntimeException e) {
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
        log.warn("{} events stay in the outbox for the next owners of their shards", queue.size());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    super.stop();
  }
}
