package io.ordertimeout.orders.expiry;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.Activity;
import io.ordertimeout.orders.Activity.Counts;
import io.ordertimeout.orders.DatabaseClock;
import io.ordertimeout.orders.OrderTimeoutProperties;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Pauses expiry before an abnormal number of orders is cancelled: more than a share of those that
 * came in over a window, or any while orders come in and not one payment does. It judges by what
 * this instance has read and decided, before each decision; the pause that it places holds all
 * instances until an operator ends it. What was due by then is decided without being counted, or
 * the breaker would trip over what it held back. Thread-safe.
 */
@Component
class Breaker {

  private record Sample(Instant at, Counts counts) {}

  private static final Logger log = LoggerFactory.getLogger(Breaker.class);
  private static final String NAME = "breaker";

  private final Activity activity;
  private final ExpiryPauses pauses;
  private final DatabaseClock clock;
  private final OrderTimeoutProperties.Breaker settings;

  /** The window, oldest first; guarded by this. */
  private final Deque<Sample> samples = new ArrayDeque<>();

  private @Nullable Sample lastPayment;
  private Instant exemptUntil = Instant.MIN;

  /** Orders that are being decided. */
  private long underWay;

  private boolean paused;

  Breaker(
      Activity activity,
      ExpiryPauses pauses,
      DatabaseClock clock,
      OrderTimeoutProperties properties,
      MeterRegistry meters) {
    this.activity = activity;
    this.pauses = pauses;
    this.clock = clock;
    this.settings = properties.breaker();
    pauses.onChange(this::pausesChanged);
    Gauge.builder("order.timeout.breaker.ratio", this, Breaker::ratio)
        .description("Cancellations for each registration within the breaker's window")
        .register(meters);
  }

  /**
   * Says that orders are about to be decided; pauses expiry if they are too many. To be followed by
   * {@link #decided}.
   *
   * @param orders how many
   * @param latestDeadline the latest of their deadlines
   */
  void aboutToDecide(int orders, Instant latestDeadline) {
    String reason = reasonToTrip(orders, latestDeadline);
    if (reason != null && pauses.trip(NAME, reason, settings.moveDeadlines())) {
      log.error("Expiry is paused until an operator ends the pause: {}", reason);
      pauses.refresh();
    }
  }

  /** Says that so many orders, about which it was asked, are decided or not going to be. */
  synchronized void decided(int orders) {
    underWay -= orders;
  }

  private synchronized @Nullable String reasonToTrip(int orders, Instant latestDeadline) {
    underWay += orders;
    Sample oldest = samples.peekFirst();
    if (!settings.enabled() || oldest == null || paused || !latestDeadline.isAfter(exemptUntil)) {
      return null;
    }
    Counts inWindow = activity.counts().since(oldest.counts());
    long cancelled = inWindow.cancelled() + underWay;
    if (cancelled >= settings.minCancellations()
        && cancelled > settings.maxRatio() * inWindow.registered()) {
      return "%d of %d orders that came in within %s would be cancelled, more than %s of them"
          .formatted(cancelled, inWindow.registered(), settings.window(), settings.maxRatio());
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
      add(new Sample(clock.now(), activity.counts()));
    }
  }

  private synchronized void add(Sample sample) {
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
      // Whoever ended the pause knows of what it held back.
      exemptUntil = clock.now();
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
        : (double) inWindow.cancelled() / inWindow.registered();
  }
}
