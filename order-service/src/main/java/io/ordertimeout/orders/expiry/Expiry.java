package io.ordertimeout.orders.expiry;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.engine.DueBatch;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.deadline.DueOrderDecision;
import io.ordertimeout.orders.deadline.DueOrderDecision.LeftPending;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.platform.monitoring.ActivityCounters;
import io.ordertimeout.orders.platform.monitoring.DecisionDelayMetrics;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.postgres.RejectedRow;
import io.ordertimeout.orders.platform.tracing.OrderTraces;
import io.ordertimeout.orders.relay.OutboxRelay;
import io.ordertimeout.orders.suspension.Interruptions;
import io.ordertimeout.orders.suspension.ParkedOrders;
import io.ordertimeout.orders.watermark.PaymentWatermark;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
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
  public static final int PHASE = OutboxRelay.PHASE + 100;

  private static final Logger log = LoggerFactory.getLogger(Expiry.class);
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(20);

  /** How soon an order is looked at again that somebody else was writing. */
  private static final long LOCKED_RETRY_MILLIS = 20;

  /**
   * How soon an order is looked at again that is paused. When pauses end, whoever owns the shard
   * arms its due orders at once.
   */
  private static final long PAUSED_RETRY_MILLIS = 30_000;

  /** No order that is due is in the wheel for longer than this until it is looked at again. */
  public static final long LONGEST_RETRY_MILLIS = 2 * PAUSED_RETRY_MILLIS;

  /** Takes orders back into the wheel of their shard. */
  @FunctionalInterface
  public interface Rearm {
    /** Arms the first {@code count} of the orders by their deadlines in epoch milliseconds. */
    void arm(int shard, long[] ids, long[] deadlinesMillis, int count);
  }

  private final PaymentWatermark watermark;
  private final ExpiryCircuitBreaker breaker;
  private final DueOrderDecision decision;
  private final OutboxRelay relay;
  private final DatabaseClock clock;
  private final ParkedOrders parked;
  private final Interruptions interruptions;
  private final ActivityCounters activity;
  private final DecisionDelayMetrics delays;
  private final OrderTraces traces;
  private final Duration retryDelay;
  private final Duration settlementGrace;
  private final RateLimiter pace;
  private final StepHealth step;
  private final ExecutorService threads;
  private final Counter cancelled;
  private volatile boolean running;

  Expiry(
      PaymentWatermark watermark,
      ExpiryCircuitBreaker breaker,
      DueOrderDecision decision,
      ParkedOrders parked,
      Interruptions interruptions,
      ActivityCounters activity,
      DecisionDelayMetrics delays,
      OrderTraces traces,
      OutboxRelay relay,
      DatabaseClock clock,
      StepHealthRegistry steps,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.watermark = watermark;
    this.breaker = breaker;
    this.decision = decision;
    this.relay = relay;
    this.clock = clock;
    this.parked = parked;
    this.interruptions = interruptions;
    this.activity = activity;
    this.delays = delays;
    this.traces = traces;
    this.retryDelay = properties.expiry().retryDelay();
    this.settlementGrace = properties.expiry().settlementGrace();
    this.pace = new RateLimiter(properties.expiry().maxRate(), System::nanoTime);
    this.step = steps.step("expiry");
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
    Instant due = clock.now();
    watermark.whenPassed(
        batch.shard(),
        Instant.ofEpochMilli(batch.latestDeadlineMillis()).plus(settlementGrace),
        watermark -> {
          Passed passed = new Passed(watermark, due, clock.now());
          threads.execute(() -> decide(batch, passed, rearm));
        });
  }

  /** A batch's watermark, when the wheel handed the batch out, and when the gate let it pass. */
  private record Passed(Instant watermark, Instant dueAt, Instant passedAt) {}

  private void decide(DueBatch batch, Passed passed, Rearm rearm) {
    long wait = pace.nanosUntilNext(batch.size());
    if (wait > 0) {
      later(wait, () -> decideNow(batch, passed, rearm));
    } else {
      decideNow(batch, passed, rearm);
    }
  }

  private void decideNow(DueBatch batch, Passed passed, Rearm rearm) {
    try {
      decideUnlessTooMany(batch, passed, rearm);
      batch.done();
      step.succeeded();
    } catch (RuntimeException e) {
      step.failed("due orders could not be decided; they stay pending and are tried again", e);
      later(retryDelay.toNanos(), () -> decideNow(batch, passed, rearm));
    }
  }

  private void decideUnlessTooMany(DueBatch batch, Passed passed, Rearm rearm) {
    int counted =
        breaker.aboutToDecide(batch.size(), Instant.ofEpochMilli(batch.latestDeadlineMillis()));
    try {
      decide(batch.shard(), batch.ids(), passed, rearm);
    } finally {
      breaker.decided(counted);
    }
  }

  /** Decides orders; those that Postgres refuses one of in halves, until that one is alone. */
  private void decide(int shard, long[] ids, Passed passed, Rearm rearm) {
    List<OutboxEvent> events;
    try {
      events = decision.cancel(shard, ids, passed.watermark());
    } catch (RuntimeException e) {
      String refusal = RejectedRow.reason(e).orElseThrow(() -> e);
      if (ids.length == 1) {
        parked.park(shard, ids[0], "Postgres refused to cancel it: " + refusal);
        log.error("Order row {} is parked: Postgres refused to cancel it", ids[0]);
      } else {
        int half = ids.length / 2;
        decide(shard, Arrays.copyOf(ids, half), passed, rearm);
        decide(shard, Arrays.copyOfRange(ids, half, ids.length), passed, rearm);
      }
      return;
    }
    cancelled.increment(events.size());
    activity.cancelled(events.size());
    breaker.cancelled(events);
    measure(events, passed);
    events.forEach(this::trace);
    relay.publish(events);
    if (events.size() < ids.length) {
      interruptions.extend(shard, ids);
      rearm(shard, decision.leftPending(shard, ids), events.isEmpty(), rearm);
    }
  }

  private void measure(List<OutboxEvent> events, Passed passed) {
    Instant decidedAt = clock.now();
    for (OutboxEvent event : events) {
      Instant deadline = event.deadline();
      if (deadline != null) {
        delays.wheel(Duration.between(deadline.plus(settlementGrace), passed.dueAt()));
        delays.gate(Duration.between(passed.dueAt(), passed.passedAt()));
        delays.database(Duration.between(passed.passedAt(), decidedAt));
      }
    }
  }

  private void trace(OutboxEvent event) {
    String traceparent = event.traceparent();
    Instant deadline = event.deadline();
    Instant cancelledAt = event.cancelledAt();
    if (traceparent != null && deadline != null && cancelledAt != null) {
      traces.recordExpiry(traceparent, event.orderId(), deadline, cancelledAt);
    }
  }

  private void later(long nanos, Runnable task) {
    CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, threads).execute(task);
  }

  private void rearm(int shard, List<LeftPending> orders, boolean noneDecided, Rearm rearm) {
    if (orders.isEmpty()) {
      return;
    }
    // Where nothing was decided, something holds all of them.
    long soon = noneDecided ? retryDelay.toMillis() : LOCKED_RETRY_MILLIS;
    long now = clock.now().minus(settlementGrace).toEpochMilli();
    long[] ids = orders.stream().mapToLong(LeftPending::id).toArray();
    long[] deadlinesMillis =
        orders.stream()
            .mapToLong(
                order ->
                    Math.max(
                        now + (order.paused() ? pausedRetryMillis() : soon),
                        order.deadline().toEpochMilli() + 1))
            .toArray();
    rearm.arm(shard, ids, deadlinesMillis, ids.length);
  }

  /** Spread out, so that millions of paused orders do not come back at once. */
  private static long pausedRetryMillis() {
    return PAUSED_RETRY_MILLIS + ThreadLocalRandom.current().nextLong(PAUSED_RETRY_MILLIS);
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
