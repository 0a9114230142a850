package io.ordertimeout.orders.expiry;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.engine.DueBatch;
import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.DueOrderDecision;
import io.ordertimeout.orders.order.DueOrderDecision.LeftPending;
import io.ordertimeout.orders.order.DueOrders;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderCancelled;
import io.ordertimeout.orders.outbox.OutboxEvent.OrderExpiring;
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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Decides due orders: waits until the payment watermark of the shard has passed a batch, has
 * Postgres decide it together with those of other shards that it has passed as well, and hands the
 * cancellations to the relay. A batch that fails is retried until it succeeds or its shard is
 * released; its orders stay pending meanwhile. Thread-safe.
 */
@Component
public class Expiry implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(Expiry.class);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);

  /**
   * How long the first batch that the watermark has passed waits for others, which it passes at the
   * same time: one statement for all of them costs little more than one for the first.
   */
  private static final Duration COLLECTING = Duration.ofNanos(500_000);

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
  private final RateLimiter rateLimiter;
  private final StepHealth health;
  private final ExecutorService threads;
  private final PassedBatches passed;

  /** Whether a thread was woken that is still collecting batches. */
  private final AtomicBoolean woken = new AtomicBoolean();

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
    this.rateLimiter = new RateLimiter(properties.expiry().maxRate(), System::nanoTime);
    this.health = registry.step("expiry");
    this.passed = new PassedBatches(properties.expiry().batchSize());
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
    awaitWatermark(batch, clock.now(), rearm, true);
  }

  /** Continues, on a thread of the expiry, with a watermark that is asked for from now on. */
  private void awaitWatermark(DueBatch batch, Instant dueAt, Rearm rearm, boolean isFirst) {
    watermark.whenPassed(
        batch.shard(),
        Instant.ofEpochMilli(batch.latestDeadlineMillis()),
        reached -> {
          passed.add(new Attempt(batch, reached, dueAt, clock.now(), rearm, isFirst));
          wakeThread();
        },
        () -> health.abandoned(batch));
  }

  /** Has a thread take batches, unless one that was woken is still collecting them. */
  private void wakeThread() {
    if (!woken.compareAndSet(false, true)) {
      return;
    }
    try {
      threads.execute(this::attemptNext);
    } catch (Error e) {
      // Such as a thread that cannot be created: the batches must not be lost.
      woken.set(false);
      CompletableFuture.delayedExecutor(retryDelay.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
          .execute(this::wakeThread);
      health.failed(CONSEQUENCE, e);
    }
  }

  private void attemptNext() {
    LockSupport.parkNanos(COLLECTING.toNanos());
    woken.set(false);
    List<Attempt> attempts = passed.next();
    if (!passed.isEmpty()) {
      wakeThread();
    }
    if (!attempts.isEmpty()) {
      limitRate(attempts);
    }
  }

  private void limitRate(List<Attempt> attempts) {
    long waitNanos =
        attempts.get(0).isFirst()
            ? rateLimiter.nanosUntilNext(attempts.stream().mapToInt(a -> a.batch().size()).sum())
            : 0;
    if (waitNanos > 0) {
      attemptAgainLater(attempts, waitNanos);
    } else {
      attempt(attempts);
    }
  }

  /**
   * Attempts again with other watermarks, because these may stem from a server that is gone; each
   * batch alone, because what has failed may be one of them.
   */
  private void attemptAgainLater(List<Attempt> attempts, long nanos) {
    for (Attempt attempt : attempts) {
      runLater(
          nanos, () -> awaitWatermark(attempt.batch(), attempt.dueAt(), attempt.rearm(), false));
    }
  }

  private void attempt(List<Attempt> attempts) {
    try {
      DueOrders due = Attempt.orders(attempts);
      int counted = breaker.beforeDecision(() -> decision.imminent(due), latestDeadline(attempts));
      try {
        decide(attempts, due);
      } finally {
        breaker.afterDecision(counted);
      }
      attempts.forEach(attempt -> attempt.batch().done());
      health.succeeded();
    } catch (RuntimeException | Error e) {
      // First, because the report of an error may fail like what it reports.
      attemptAgainLater(attempts, retryDelay.toNanos());
      // The decision may be committed although its result was lost, and with it the events.
      relay.findLeftBehind();
      attempts.forEach(attempt -> health.failed(CONSEQUENCE, e, attempt.batch()));
    }
  }

  private static Instant latestDeadline(List<Attempt> attempts) {
    return Instant.ofEpochMilli(
        attempts.stream().mapToLong(a -> a.batch().latestDeadlineMillis()).max().orElseThrow());
  }

  /**
   * Decides orders of batches. If Postgres rejects one of them, halves them until that one is
   * alone. If none of them can be decided, each batch is tried alone: what keeps one shard waiting
   * must not keep others.
   */
  private void decide(List<Attempt> attempts, DueOrders due) {
    ReflectedServer reflected = readBack.reflected();
    List<OrderExpiring> warnings;
    List<OrderCancelled> events;
    try {
      warnings = decision.warn(due, reflected);
      relay.publish(warnings, reflected);
      events = decision.cancel(due, reflected);
    } catch (RuntimeException e) {
      String rejection = RejectedRow.reason(e).orElseThrow(() -> e);
      if (attempts.size() > 1) {
        attempts.forEach(this::decideAlone);
      } else if (due.size() == 1) {
        park(attempts.get(0).shard(), due.ids()[0], rejection);
      } else {
        decide(attempts, due.part(0, due.size() / 2));
        decide(attempts, due.part(due.size() / 2, due.size()));
      }
      return;
    }
    if (attempts.size() > 1 && warnings.isEmpty() && events.isEmpty()) {
      attempts.forEach(this::decideAlone);
      return;
    }
    cancelled.increment(events.size());
    activity.cancelled(events.size());
    breaker.cancelled(events.stream().map(OrderCancelled::dueAt).toList());
    measure(events, attempts);
    events.forEach(this::trace);
    relay.publish(events, reflected);
    if (events.size() < due.size()) {
      decision.extend(due);
      Set<Long> decided =
          events.stream().map(event -> event.envelope().orderRow()).collect(Collectors.toSet());
      for (Attempt attempt : attempts) {
        long[] ids = attempts.size() == 1 ? due.ids() : attempt.batch().ids();
        long[] left = LongStream.of(ids).filter(id -> !decided.contains(id)).toArray();
        keep(
            attempt,
            DueOrders.of(attempt.shard(), left, attempt.watermark()),
            reflected,
            events.isEmpty());
      }
    }
  }

  private void decideAlone(Attempt attempt) {
    decide(List.of(attempt), Attempt.orders(List.of(attempt)));
  }

  /** Arms those of the orders again that stay pending. */
  private void keep(
      Attempt attempt, DueOrders due, ReflectedServer reflected, boolean noneCancelled) {
    if (due.size() == 0) {
      return;
    }
    List<LeftPending> left = decision.leftPending(due);
    boolean isAnyHeldNoMore =
        left.stream().anyMatch(order -> order.isHeldNoMore(due.watermark().time()));
    if (isAnyHeldNoMore && parkUnconfirmed(due, reflected)) {
      left = decision.leftPending(due);
    }
    rearm(attempt, left, noneCancelled);
  }

  /**
   * Parks those orders for which no confirmation came in time.
   *
   * @return whether there were any
   */
  private boolean parkUnconfirmed(DueOrders due, ReflectedServer reflected) {
    int shard = due.shards()[0];
    List<String> orderIds =
        Objects.requireNonNull(
            transactions.execute(
                status -> {
                  List<String> taken = decision.takeUnconfirmed(due, reflected);
                  if (!taken.isEmpty()) {
                    parked.park(taken, shard, UNCONFIRMED);
                  }
                  return taken;
                }));
    if (!orderIds.isEmpty()) {
      log.warn("{} orders of shard {} are parked: {}", orderIds.size(), shard, UNCONFIRMED);
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

  private void measure(List<OrderCancelled> events, List<Attempt> attempts) {
    Instant decidedAt = clock.now();
    Map<Integer, Attempt> ofShard =
        attempts.stream().collect(Collectors.toMap(Attempt::shard, Function.identity()));
    for (OrderCancelled event : events) {
      Attempt attempt = Objects.requireNonNull(ofShard.get(event.envelope().shard()));
      delays.wheel(Duration.between(event.dueAt(), attempt.dueAt()));
      delays.gate(Duration.between(attempt.dueAt(), attempt.passedAt()));
      delays.database(Duration.between(attempt.passedAt(), decidedAt));
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
    attempt.rearm().arm(attempt.shard(), ids, timesMillis, ids.length);
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
