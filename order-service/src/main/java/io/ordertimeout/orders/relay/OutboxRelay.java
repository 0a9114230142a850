package io.ordertimeout.orders.relay;

import io.ordertimeout.orders.OrderTimeoutProperties;
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
 * Hands committed outbox events to Kafka and deletes what Kafka acknowledged. Events come straight
 * from the transaction that wrote them; what a crash, an outage or a full queue left in Postgres is
 * found by a sweep of the owned shards, at once when a shard is taken over and slowly otherwise.
 * Thread-safe.
 */
@Component
public class OutboxRelay extends BackgroundLoop {

  /** Phase of the life cycle: started before whoever publishes, stopped after. */
  public static final int PHASE = 100;

  private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);

  /** Rows younger than this may still be on their way here in memory. */
  private static final Duration GRACE = Duration.ofSeconds(3);

  private static final Duration RETRY = Duration.ofSeconds(1);
  private static final Duration FLUSH_PATIENCE = Duration.ofSeconds(20);
  private static final Duration IDLE = Duration.ofMillis(250);
  private static final int SWEEP_LIMIT = 10_000;

  private final OutboxRows rows;
  private final EventPublisher publisher;
  private final AmountMetrics amounts;
  private final OrderTimeoutProperties.Outbox settings;
  private final StepHealth step;
  private final BlockingQueue<OutboxEvent> queue;
  private final Set<Long> underWay = ConcurrentHashMap.newKeySet();
  private final Set<Integer> shards = ConcurrentHashMap.newKeySet();

  /** Published but not deleted yet; the relay's thread alone uses it. */
  private final List<OutboxEvent> acknowledged = new ArrayList<>();

  private final CountDownLatch flushed = new CountDownLatch(1);
  private volatile long nextSweepNanos = System.nanoTime();
  private volatile long unpublished;
  private volatile boolean unprepared;
  private volatile boolean followUp;
  private volatile boolean flushing;

  OutboxRelay(
      OutboxRows rows,
      EventPublisher publisher,
      AmountMetrics amounts,
      StepHealthRegistry steps,
      OrderTimeoutProperties properties) {
    super(steps.step("outbox-relay"), PHASE, RETRY, "its events stay in the outbox, none is lost");
    this.step = steps.step("outbox-relay");
    this.rows = rows;
    this.publisher = publisher;
    this.amounts = amounts;
    this.settings = properties.outbox();
    this.queue = new LinkedBlockingQueue<>(settings.queueCapacity());
  }

  /** Takes events whose transaction is committed; never blocks. */
  public void publish(List<OutboxEvent> events) {
    for (OutboxEvent event : events) {
      if (underWay.add(event.id()) && !queue.offer(event)) {
        underWay.remove(event.id());
        sweepSoon();
      }
    }
  }

  /** Makes this instance responsible for what is left of the shard in the outbox. */
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

  /** Events of the owned shards that Kafka has not acknowledged, counted every few seconds. */
  public long unpublished() {
    return unpublished;
  }

  @Scheduled(fixedDelay = 5, timeUnit = TimeUnit.SECONDS)
  void count() {
    try {
      unpublished = shards.isEmpty() ? 0 : rows.count(shards);
    } catch (RuntimeException e) {
      log.warn("The outbox could not be counted; its metric stands still: {}", e.toString());
    }
  }

  /** Once for what is older than the grace by then, and once for what was written just now. */
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
    EventPublisher.Published published = publisher.publish(batch);
    acknowledged.addAll(published.events());
    Throwable failure = published.failure();
    if (failure == null) {
      step.succeeded();
      return;
    }
    step.failed("Kafka did not take events; they stay in the outbox, none is lost", failure);
    batch.removeAll(published.events());
    batch.forEach(event -> underWay.remove(event.id()));
    sweepSoon();
  }

  private void deleteAcknowledged() {
    if (!acknowledged.isEmpty()) {
      amounts.cancelled(rows.delete(acknowledged));
      acknowledged.forEach(event -> underWay.remove(event.id()));
      acknowledged.clear();
    }
  }

  private void sweep() {
    nextSweepNanos = System.nanoTime() + settings.sweepInterval().toNanos();
    if (shards.isEmpty()) {
      step.succeeded();
      return;
    }
    if (followUp) {
      // What was written a moment ago, by the last owner or here, is within the grace now.
      followUp = false;
      sweepIn(GRACE);
    }
    List<OutboxEvent> left = leftBehind();
    if (left.isEmpty() && !step.failingFor().isZero() && rows.count(shards) == 0) {
      // Otherwise it would count as failing until there is something to publish again.
      step.succeeded();
    }
    List<OutboxEvent> forgotten =
        left.stream().filter(event -> !underWay.contains(event.id())).toList();
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
      return rows.leftBehind(shards, GRACE.toMillis() / 1e3, SWEEP_LIMIT);
    } catch (RuntimeException e) {
      sweepSoon();
      throw e;
    }
  }

  /** Publishes what is queued, as far as Kafka lets it, and ends. */
  @Override
  public void stop() {
    flushing = true;
    try {
      if (!flushed.await(FLUSH_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        log.warn("{} events stay in the outbox for the next owner of their shards", queue.size());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    super.stop();
  }
}
