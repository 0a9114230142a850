package io.ordertimeout.orders.expiry;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.outbox.OutboxEvent;
import io.ordertimeout.orders.platform.monitoring.ActivityCounters;
import io.ordertimeout.orders.platform.monitoring.ActivityCounters.Counts;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.suspension.ExpiryPauses;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Pauses expiry before an abnormal number of orders is cancelled: more than a share of those that
 * came in over a window, or any while orders come in and not one payment does. It judges by what
 * this instance has read and decided, before each decision; the pause that it places holds all
 * instances until an operator ends it. Only orders that came due within the window count: what a
 * pause has held back, or came due while this instance was not there, is not of the orders that
 * come in now. Thread-safe.
 */
@Component
class ExpiryCircuitBreaker {

  private record Sample(Instant at, Counts counts, long cancelled) {}

  private static final Logger log = LoggerFactory.getLogger(ExpiryCircuitBreaker.class);
  private static final String NAME = "breaker";

  private final ActivityCounters activity;
  private final ExpiryPauses pauses;
  private final DatabaseClock clock;
  private final OrderTimeoutProperties.CircuitBreaker settings;

  /** The window, oldest first; guarded by this. */
  private final Deque<Sample> samples = new ArrayDeque<>();

  private @Nullable Sample lastPayment;

  /** Cancelled orders that count. */
  private long cancelled;

  /** Orders that count, and are being decided. */
  private long underWay;

  private boolean paused;

  ExpiryCircuitBreaker(
      ActivityCounters activity,
      ExpiryPauses pauses,
      DatabaseClock clock,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.activity = activity;
    this.pauses = pauses;
    this.clock = clock;
    this.settings = properties.breaker();
    pauses.onChange(this::pausesChanged);
    Gauge.builder("order.timeout.breaker.ratio", this, ExpiryCircuitBreaker::ratio)
        .description("Cancellations for each registration within the breaker's window")
        .register(meters);
  }

  /**
   * Says that orders are about to be decided; pauses expiry if they are too many. To be followed by
   * {@link #decided}.
   *
   * @param orders how many
   * @param latestDeadline the latest of their deadlines
   * @return how many of them count
   */
  int aboutToDecide(int orders, Instant latestDeadline) {
    if (!begin(orders, latestDeadline)) {
      return 0;
    }
    String reason = reasonToTrip();
    if (reason != null && pauses.trip(NAME, reason, settings.moveDeadlines())) {
      log.error("Expiry is paused until an operator ends the pause: {}", reason);
      pauses.refresh();
    }
    return orders;
  }

  /** Says which orders were cancelled. */
  synchronized void cancelled(List<OutboxEvent> events) {
    cancelled += events.stream().map(OutboxEvent::deadline).filter(this::counts).count();
  }

  /** Says that so many orders that count are decided, or are not going to be. */
  synchronized void decided(int orders) {
    underWay -= orders;
  }

  private synchronized boolean begin(int orders, Instant latestDeadline) {
    boolean counts = counts(latestDeadline);
    underWay += counts ? orders : 0;
    return counts;
  }

  /** Where the breaker is not enabled there is no window. */
  private boolean counts(@Nullable Instant deadline) {
    Sample oldest = samples.peekFirst();
    return oldest != null && deadline != null && deadline.isAfter(oldest.at());
  }

  private synchronized @Nullable String reasonToTrip() {
    Sample oldest = samples.peekFirst();
    if (oldest == null || paused) {
      return null;
    }
    long registeredInWindow = activity.counts().since(oldest.counts()).registered();
    long cancelledInWindow = cancelled - oldest.cancelled() + underWay;
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

  @Scheduled(fixedDelay = 1_000)
  void sample() {
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

  private synchronized void pausesChanged() {
    boolean now = pauses.isAllPaused();
    if (paused && !now) {
      // Whoever ended the pause knows of what it held back: the window begins anew.
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
