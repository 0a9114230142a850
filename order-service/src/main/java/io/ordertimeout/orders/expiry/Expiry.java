package io.ordertimeout.orders.expiry;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.engine.DueBatch;
import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.DueOrderDecision;
import io.ordertimeout.orders.order.DueOrderDecision.LeftPending;
import io.ordertimeout.orders.order.Watermark;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.platform.monitoring.ActivityCounters;
import io.ordertimeout.orders.platform.monitoring.DecisionDelayMetrics;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.postgres.RejectedRow;
import io.ordertimeout.orders.platform.tracing.OrderTraces;
import io.ordertimeout.orders.position.ReadBackState;
import io.ordertimeout.orders.position.ReflectedServer;
import io.ordertimeout.orders.relay.OutboxRelay;
import io.ordertimeout.orders.suspension.ParkedOrders;
import io.ordertimeout.orders.watermark.PaymentWatermark;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Decides due orders: waits until the payment watermark of the shard has passed a batch, has
 * Postgres decide, and hands the cancellations to the relay. A batch that fails is retried until it
 * succeeds or its shard is released; its orders stay pending meanwhile. Thread-safe.
 */
@Component
public class Expiry implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(Expiry.class);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);

  /** Delay before an order is retried whose row another transaction was writing. */
  private static final long LOCKED_RETRY_MILLIS = 20;

  /**
   * Delay before an order is retried that is suspended, or of which a payment is under way. When
   * that ends, the owner of the shard arms its due orders immediately.
   */
  private static final long SUSPENDED_RETRY_MILLIS = 30_000;

  /** No order that is due stays in the wheel for longer than this until it is retried. */
  public static final long LONGEST_RETRY_MILLIS = 2 * SUSPENDED_RETRY_MILLIS;

  private static final String CONSEQUENCE =
      "due orders could not be decided; they stay pending and are retried";

  private static final String UNCONFIRMED =
      "nobody has confirmed in time that nothing can be paid any more";

  /** Takes orders back into the wheel of their shard. */
  @FunctionalInterface
  public interface Rearm {
    /** Arms the first {@code count} orders at times in epoch milliseconds. */
    void arm(int shard, long[] ids, long[] timesMillis, int count);
  }

  private final PaymentWatermark watermark;
  private final ExpiryCircuitBreaker breaker;
  private final DueOrderDecision decision;
  private final ReadBackState readBack;
  private final OutboxRelay relay;
  private final DatabaseClock clock;
  private final ParkedOrders parked;
  private final TransactionTemplate transactions;
  private final ActivityCounters activity;
  private final DecisionDelayMetrics delays;
  private final OrderTraces traces;
  private final Duration retryDelay;
  private final Duration settlementGrace;
  private final RateLimiter rateLimiter;
  private final StepHealth health;
  private final ExecutorService threads;
  private final Counter cancelled;
  private volatile boolean running;

  Expiry(
      PaymentWatermark watermark,
      ExpiryCircuitBreaker breaker,
      DueOrderDecision decision,
      ReadBackState readBack,
      ParkedOrders parked,
      TransactionTemplate transactions,
      ActivityCounters activity,
      DecisionDelayMetrics delays,
      OrderTraces traces,
      OutboxRelay relay,
      DatabaseClock clock,
      StepHealthRegistry registry,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.watermark = watermark;
    this.breaker = breaker;
    this.decision = decision;
    this.readBack = readBack;
    this.relay = relay;
    this.clock = clock;
    this.parked = parked;
    this.transactions = transactions;
    this.activity = activity;
    this.delays = delays;
    this.traces = traces;
    this.retryDelay = properties.expiry().retryDelay();
    this.settlementGrace = properties.expiry().settlementGrace();
    this.rateLimiter = new RateLimiter(properties.expiry().maxRate(), System::nanoTime);
    this.health = registry.step("expiry");
    this.threads =
        Executors.newFixedThreadPool(
            properties.expiry().threads(), new CustomizableThreadFactory("expiry-"));
    this.cancelled =
        Counter.builder("order.timeout.cancelled")
            .description("Orders cancelled because they were not paid by their deadline")
            .register(meters);
  }

  /**
   * Accepts a batch of due orders; returns immediately. The batch is done when each of its orders
   * is decided or armed again.
   *
   * @throws java.util.concurrent.RejectedExecutionException after the expiry was stopped
   */
  public void expire(DueBatch batch, Rearm rearm) {
    Instant dueAt = clock.now();
    awaitWatermark(batch, dueAt, rearm, this::limitRate);
  }

  /** Continues, on a thread of the expiry, with a watermark that is asked for from now on. */
  private void awaitWatermark(DueBatch batch, Instant dueAt, Rearm rearm, Consumer<Attempt> then) {
    watermark.whenPassed(
        batch.shard(),
        Instant.ofEpochMilli(batch.latestDeadlineMillis()),
        passed -> submit(new Attempt(batch, passed, dueAt, clock.now(), rearm), then),
        () -> health.abandoned(batch));
  }

  private void submit(Attempt attempt, Consumer<Attempt> then) {
    try {
      threads.execute(() -> then.accept(attempt));
    } catch (Error e) {
      // Such as a thread that cannot be created: the batch must not be lost.
      CompletableFuture.delayedExecutor(retryDelay.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
          .execute(() -> submit(attempt, then));
      health.failed(CONSEQUENCE, e, attempt.batch);
    }
  }

  /**
   * Attempts again with another watermark, because this one may stem from a server that is gone.
   */
  private void attemptAgain(Attempt attempt) {
    awaitWatermark(attempt.batch, attempt.dueAt, attempt.rearm, this::attempt);
  }

  /**
   * A batch on its way to a decision.
   *
   * @param watermark the shard's watermark, which has passed all deadlines of the batch and was
   *     read after they had come due
   * @param dueAt when the wheel handed the batch out
   * @param passedAt when the watermark had passed it
   */
  private record Attempt(
      DueBatch batch, Watermark watermark, Instant dueAt, Instant passedAt, Rearm rearm) {

    int shard() {
      return batch.shard();
    }
  }

  private void limitRate(Attempt attempt) {
    long waitNanos = rateLimiter.nanosUntilNext(attempt.batch.size());
    if (waitNanos > 0) {
      runLater(waitNanos, () -> attemptAgain(attempt));
    } else {
      attempt(attempt);
    }
  }

  private void attempt(Attempt attempt) {
    DueBatch batch = attempt.batch;
    try {
      int counted =
          breaker.beforeDecision(
              () -> decision.imminent(attempt.shard(), batch.ids(), attempt.watermark),
              Instant.ofEpochMilli(batch.latestDeadlineMillis()));
      try {
        decide(attempt, batch.ids());
      } finally {
        breaker.afterDecision(counted);
      }
      batch.done();
      health.succeeded();
    } catch (RuntimeException | Error e) {
      // First, because the report of an error may fail like what it reports.
      runLater(retryDelay.toNanos(), () -> attemptAgain(attempt));
      // The decision may be committed although its result was lost, and with it the events.
      relay.findLeftBehind();
      health.failed(CONSEQUENCE, e, batch);
    }
  }

  /** Decides orders. If Postgres rejects one of them, halves them until that one is alone. */
  private void decide(Attempt attempt, long[] ids) {
    ReflectedServer reflected = readBack.reflected();
    List<OrderCancelled> events;
    try {
      relay.publish(decision.warn(attempt.shard(), ids, attempt.watermark, reflected), reflected);
      events = decision.cancel(attempt.shard(), ids, attempt.watermark, reflected);
    } catch (RuntimeException e) {
      String rejection = RejectedRow.reason(e).orElseThrow(() -> e);
      if (ids.length == 1) {
        park(attempt.shard(), ids[0], rejection);
      } else {
        int half = ids.length / 2;
        decide(attempt, Arrays.copyOf(ids, half));
        decide(attempt, Arrays.copyOfRange(ids, half, ids.length));
      }
      return;
    }
    cancelled.increment(events.size());
    activity.cancelled(events.size());
    breaker.cancelled(events.stream().map(event -> event.dueAt(settlementGrace)).toList());
    measure(events, attempt);
    events.forEach(this::trace);
    relay.publish(events, reflected);
    if (events.size() < ids.length) {
      decision.extend(attempt.shard(), ids);
      List<LeftPending> left = decision.leftPending(attempt.shard(), ids);
      boolean isAnyHeldNoMore =
          left.stream().anyMatch(order -> order.isHeldNoMore(attempt.watermark.time()));
      if (isAnyHeldNoMore && parkUnconfirmed(attempt, ids, reflected)) {
        left = decision.leftPending(attempt.shard(), ids);
      }
      rearm(attempt, left, events.isEmpty());
    }
  }

  /**
   * Parks those orders for which no confirmation came in time.
   *
   * @return whether there were any
   */
  private boolean parkUnconfirmed(Attempt attempt, long[] ids, ReflectedServer reflected) {
    List<String> orderIds =
        Objects.requireNonNull(
            transactions.execute(
                status -> {
                  List<String> taken =
                      decision.takeUnconfirmed(attempt.shard(), ids, attempt.watermark, reflected);
                  if (!taken.isEmpty()) {
                    parked.park(taken, attempt.shard(), UNCONFIRMED);
                  }
                  return taken;
                }));
    if (!orderIds.isEmpty()) {
      log.warn(
          "{} orders of shard {} are parked: {}", orderIds.size(), attempt.shard(), UNCONFIRMED);
    }
    return !orderIds.isEmpty();
  }

  private void park(int shard, long id, String rejection) {
    decision
        .orderId(shard, id)
        .ifPresent(
            orderId ->
                parked.park(
                    List.of(orderId), shard, "Postgres rejected its cancellation: " + rejection));
    log.error("Order row {} is parked: Postgres rejected its cancellation", id);
  }

  private void measure(List<OrderCancelled> events, Attempt attempt) {
    Instant decidedAt = clock.now();
    for (OrderCancelled event : events) {
      delays.wheel(Duration.between(event.dueAt(settlementGrace), attempt.dueAt));
      delays.gate(Duration.between(attempt.dueAt, attempt.passedAt));
      delays.database(Duration.between(attempt.passedAt, decidedAt));
    }
  }

  private void trace(OrderCancelled event) {
    String traceparent = event.envelope().traceparent();
    if (traceparent != null) {
      traces.recordExpiry(traceparent, event.orderId(), event.deadline(), event.cancelledAt());
    }
  }

  private void runLater(long nanos, Runnable task) {
    CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, threads).execute(task);
  }

  private void rearm(Attempt attempt, List<LeftPending> orders, boolean noneCancelled) {
    if (orders.isEmpty()) {
      return;
    }
    // If nothing was cancelled, something holds all of them.
    long soonMillis = noneCancelled ? retryDelay.toMillis() : LOCKED_RETRY_MILLIS;
    long now = clock.now().toEpochMilli();
    long[] ids = orders.stream().mapToLong(LeftPending::id).toArray();
    long[] timesMillis =
        orders.stream()
            .mapToLong(
                order ->
                    Math.max(
                        now + retryMillis(order, now, soonMillis),
                        order.stage().toEpochMilli() + 1))
            .toArray();
    attempt.rearm.arm(attempt.shard(), ids, timesMillis, ids.length);
  }

  private static long retryMillis(LeftPending order, long now, long soonMillis) {
    if (order.stage().toEpochMilli() > now) {
      return soonMillis; // What keeps it from being cancelled does not matter yet.
    }
    Instant heldUntil = order.heldUntil();
    long heldMillis = heldUntil == null ? 0 : heldUntil.toEpochMilli() + 1 - now;
    if (heldMillis > 0) {
      return Math.min(heldMillis, suspendedRetryMillis());
    }
    return order.suspended() ? suspendedRetryMillis() : soonMillis;
  }

  /** Spread at random, so that millions of waiting orders are not retried at the same time. */
  private static long suspendedRetryMillis() {
    return SUSPENDED_RETRY_MILLIS + ThreadLocalRandom.current().nextLong(SUSPENDED_RETRY_MILLIS);
  }

  @Override
  public void start() {
    running = true;
  }

  /** Finishes the decisions in progress. */
  @Override
  public void stop() {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
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
    return LifecyclePhases.EXPIRY;
  }
}
