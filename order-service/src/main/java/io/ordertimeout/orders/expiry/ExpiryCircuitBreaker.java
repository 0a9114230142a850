package io.ordertimeout.orders.expiry;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import io.ordertimeout.orders.platform.monitoring.ActivityCounters;
import io.ordertimeout.orders.platform.monitoring.ActivityCounters.Counts;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.suspension.NewPause;
import io.ordertimeout.orders.suspension.Suspension;
import io.ordertimeout.orders.suspension.Suspension.PlacedBy;
import io.ordertimeout.orders.suspension.Suspensions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A circuit breaker that pauses expiry before an abnormal number of orders is cancelled: more than
 * a share of the orders registered within a window, or any order while orders are registered but no
 * payment is read.
 *
 * <p>It decides before each batch, by what this instance has read and decided. The pause that it
 * places holds the orders of all instances until an operator ends it. Only orders that came due
 * within the window count, because orders that a pause held back, or that came due while this
 * instance was not running, say nothing about the orders of now. Thread-safe.
 */
@Component
class ExpiryCircuitBreaker {

  private record Sample(Instant at, Counts counts, long cancelled) {}

  private static final Logger log = LoggerFactory.getLogger(ExpiryCircuitBreaker.class);
  private static final String NAME = "breaker";

  private final ActivityCounters activity;
  private final Suspensions suspensions;
  private final AuditLog audit;
  private final TransactionTemplate transactions;
  private final DatabaseClock clock;
  private final OrderTimeoutProperties.CircuitBreaker settings;

  /** The window, oldest first; guarded by this. */
  private final Deque<Sample> samples = new ArrayDeque<>();

  private @Nullable Sample lastPayment;

  /** Cancelled orders that came due within the window. */
  private long cancelled;

  /** Orders that came due within the window and are being decided. */
  private long inProgress;

  private boolean paused;

  ExpiryCircuitBreaker(
      ActivityCounters activity,
      Suspensions suspensions,
      AuditLog audit,
      TransactionTemplate transactions,
      DatabaseClock clock,
      PeriodicTasks tasks,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.activity = activity;
    this.suspensions = suspensions;
    this.audit = audit;
    this.transactions = transactions;
    this.clock = clock;
    this.settings = properties.breaker();
    suspensions.onChange(this::suspensionsChanged);
    // The window begins with the clock, which is set before the first record is read.
    clock.onChange(this::sample);
    tasks.repeat(
        "circuit-breaker",
        Duration.ofSeconds(1),
        "the circuit breaker judges by an outdated window",
        this::sample);
    Gauge.builder("order.timeout.breaker.ratio", this, ExpiryCircuitBreaker::ratio)
        .description("Cancellations per registration within the circuit breaker's window")
        .register(meters);
  }

  /**
   * Announces a decision, and pauses expiry if it would cancel too many orders. Must be followed by
   * {@link #afterDecision}.
   *
   * @param orders counts those orders of the batch that would be cancelled; called only if needed
   * @return how many of them count towards the limit
   */
  int beforeDecision(IntSupplier orders, Instant latestDueAt) {
    if (!counts(latestDueAt)) {
      return 0;
    }
    int imminent = orders.getAsInt();
    begin(imminent);
    String reason = reasonToTrip();
    if (reason != null) {
      try {
        trip(reason);
      } catch (RuntimeException | Error e) {
        // The decision is not made, and is announced again.
        afterDecision(imminent);
        throw e;
      }
    }
    return imminent;
  }

  private void trip(String reason) {
    Boolean placed =
        transactions.execute(
            status -> {
              Optional<Suspension> pause =
                  suspensions.place(
                      new NewPause(
                          null, PlacedBy.BREAKER, NAME, reason, settings.moveDeadlines(), null));
              pause.ifPresent(
                  p -> audit.add(NAME, Kind.PAUSE_EXPIRY, Long.toString(p.id()), reason));
              return pause.isPresent();
            });
    if (Boolean.TRUE.equals(placed)) {
      log.error("Expiry is paused until an operator ends the pause: {}", reason);
      suspensions.refresh();
    }
  }

  /**
   * Counts cancelled orders.
   *
   * @param dueAt when each of them came due
   */
  synchronized void cancelled(List<Instant> dueAt) {
    cancelled += dueAt.stream().filter(this::counts).count();
  }

  /** Ends a decision that was announced, whatever its result. */
  synchronized void afterDecision(int orders) {
    inProgress -= orders;
  }

  private synchronized void begin(int orders) {
    inProgress += orders;
  }

  /** There is no window if the circuit breaker is disabled. */
  private synchronized boolean counts(Instant dueAt) {
    Sample oldest = samples.peekFirst();
    return oldest != null && dueAt.isAfter(oldest.at());
  }

  private synchronized @Nullable String reasonToTrip() {
    Sample oldest = samples.peekFirst();
    if (oldest == null || paused) {
      return null;
    }
    long registeredInWindow = activity.counts().since(oldest.counts()).registered();
    long cancelledInWindow = cancelled - oldest.cancelled() + inProgress;
    if (cancelledInWindow >= settings.minCancellations()
        && cancelledInWindow > settings.maxRatio() * registeredInWindow) {
      return "%d of %d orders that came in within %s would be cancelled, more than %s of them"
          .formatted(cancelledInWindow, registeredInWindow, settings.window(), settings.maxRatio());
    }
    Sample quietSince = lastPayment == null ? oldest : lastPayment;
    Duration silence = Duration.between(quietSince.at(), clock.now());
    long registered = activity.counts().since(quietSince.counts()).registered();
    if (silence.compareTo(settings.maxSilence()) > 0 && registered >= settings.minRegistrations()) {
      return "no payment has been read for %s, while %d orders came in"
          .formatted(Duration.ofSeconds(silence.toSeconds()), registered);
    }
    return null;
  }

  private void sample() {
    if (settings.enabled() && clock.isSet()) {
      sample(clock.now(), activity.counts());
    }
  }

  private synchronized void sample(Instant at, Counts counts) {
    Sample sample = new Sample(at, counts, cancelled);
    Sample last = samples.peekLast();
    if (last != null && sample.counts().payments() > last.counts().payments()) {
      lastPayment = sample;
    }
    samples.addLast(sample);
    Instant begin = sample.at().minus(settings.window());
    while (samples.size() > 1 && samples.getFirst().at().isBefore(begin)) {
      samples.removeFirst();
    }
  }

  private synchronized void suspensionsChanged() {
    boolean now = suspensions.isAllPaused();
    if (paused && !now) {
      // The operator who ended the pause knows what it held back, so the window starts over.
      samples.clear();
      lastPayment = null;
    }
    paused = now;
  }

  private synchronized double ratio() {
    Sample oldest = samples.peekFirst();
    if (oldest == null) {
      return Double.NaN;
    }
    Counts inWindow = activity.counts().since(oldest.counts());
    return inWindow.registered() < settings.minRegistrations()
        ? Double.NaN
        : (double) (cancelled - oldest.cancelled()) / inWindow.registered();
  }
}
