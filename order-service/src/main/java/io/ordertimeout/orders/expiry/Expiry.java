package io.ordertimeout.orders.expiry;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.engine.DueBatch;
import io.ordertimeout.orders.DatabaseClock;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.expiry.DueOrderDecision.LeftPending;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.outbox.Relay;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/**
 * Decides due orders: holds a batch until the payment watermark of its shard has passed it, has
 * Postgres decide, and hands what was cancelled to the relay. A batch that fails is tried again
 * until it succeeds; its orders stay pending meanwhile. Thread-safe.
 */
@Component
public class Expiry implements SmartLifecycle {

  /** Phase of the life cycle: stopped before the relay, after the wheels. */
  public static final int PHASE = Relay.PHASE + 100;

  private static final Logger log = LoggerFactory.getLogger(Expiry.class);
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(20);

  /** How soon an order is looked at again that somebody else was writing. */
  private static final long LOCKED_RETRY_MILLIS = 20;

  /** Takes orders back into the wheel of their shard. */
  @FunctionalInterface
  public interface Rearm {
    /** Arms the first {@code count} of the orders by their deadlines in epoch milliseconds. */
    void arm(int shard, long[] ids, long[] deadlinesMillis, int count);
  }

  private final PaymentWatermark watermark;
  private final DueOrderDecision decision;
  private final Relay relay;
  private final DatabaseClock clock;
  private final Duration retryDelay;
  private final ExecutorService threads;
  private final Counter cancelled;
  private volatile boolean running;

  Expiry(
      PaymentWatermark watermark,
      DueOrderDecision decision,
      Relay relay,
      DatabaseClock clock,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.watermark = watermark;
    this.decision = decision;
    this.relay = relay;
    this.clock = clock;
    this.retryDelay = properties.expiry().retryDelay();
    this.threads =
        Executors.newFixedThreadPool(
            properties.expiry().threads(), new CustomizableThreadFactory("expiry-"));
    this.cancelled =
        Counter.builder("order.timeout.cancelled")
            .description("Orders cancelled because they were not paid by their deadline")
            .register(meters);
  }

  /**
   * Takes a batch of due orders; returns at once. The batch is done when each of its orders is
   * decided or armed again.
   *
   * @throws java.util.concurrent.RejectedExecutionException after the expiry was stopped
   */
  public void expire(DueBatch batch, Rearm rearm) {
    watermark.whenPassed(
        batch.shard(),
        Instant.ofEpochMilli(batch.latestDeadlineMillis()),
        passed -> threads.execute(() -> decide(batch, passed, rearm)));
  }

  private void decide(DueBatch batch, Instant passed, Rearm rearm) {
    try {
      long[] ids = batch.ids();
      List<OutboxEvent> events = decision.cancel(batch.shard(), ids, passed);
      cancelled.increment(events.size());
      relay.publish(events);
      if (events.size() < ids.length) {
        rearm(batch.shard(), decision.leftPending(batch.shard(), ids), rearm);
      }
      batch.done();
    } catch (RuntimeException e) {
      log.warn(
          "{} due orders of shard {} could not be decided; they stay pending, next try in {}",
          batch.size(),
          batch.shard(),
          retryDelay,
          e);
      CompletableFuture.delayedExecutor(retryDelay.toMillis(), TimeUnit.MILLISECONDS, threads)
          .execute(() -> decide(batch, passed, rearm));
    }
  }

  private void rearm(int shard, List<LeftPending> orders, Rearm rearm) {
    if (orders.isEmpty()) {
      return;
    }
    long soon = clock.now().toEpochMilli() + LOCKED_RETRY_MILLIS;
    long[] ids = orders.stream().mapToLong(LeftPending::id).toArray();
    long[] deadlinesMillis =
        orders.stream()
            .mapToLong(order -> Math.max(soon, order.deadline().toEpochMilli() + 1))
            .toArray();
    rearm.arm(shard, ids, deadlinesMillis, ids.length);
  }

  @Override
  public void start() {
    running = true;
  }

  /** Finishes the decisions under way. */
  @Override
  public void stop() {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(STOP_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        threads.shutdownNow();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    running = false;
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
