package io.ordertimeout.orders.platform.monitoring;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;

/**
 * Whether a step of the way works, and a log of its failures that an outage does not flood: the
 * first with its stack trace, then a line every half minute, then that it works again. Thread-safe.
 */
public final class StepHealth {

  private static final Logger log = LoggerFactory.getLogger(StepHealth.class);
  private static final Duration REMINDER = Duration.ofSeconds(30);

  private final String name;
  private final LongSupplier nanoTime;
  private volatile boolean failing;
  private long failingSinceNanos;
  private long loggedAtNanos;
  private long failures;

  StepHealth(String name, LongSupplier nanoTime) {
    this.name = name;
    this.nanoTime = nanoTime;
  }

  /** Which step. */
  public String name() {
    return name;
  }

  /**
   * Notes a failure.
   *
   * @param consequence what follows from it, for the log
   */
  public synchronized void failed(String consequence, Throwable failure) {
    long now = nanoTime.getAsLong();
    failures++;
    if (!failing) {
      failing = true;
      failingSinceNanos = now;
      loggedAtNanos = now;
      log.warn("{} failed: {}", name, consequence, failure);
    } else if (now - loggedAtNanos >= REMINDER.toNanos()) {
      loggedAtNanos = now;
      log.warn(
          "{} has been failing for {} s, {} times: {}; last: {}",
          name,
          TimeUnit.NANOSECONDS.toSeconds(now - failingSinceNanos),
          failures,
          consequence,
          reason(failure));
    }
  }

  /** A failure and what it goes back to, in one line for the log. */
  public static String reason(Throwable failure) {
    Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
    return cause == failure ? failure.toString() : failure + "; caused by " + cause;
  }

  /** Notes that the step did its work; cheap while it does not fail. */
  public void succeeded() {
    if (failing) {
      recovered();
    }
  }

  private synchronized void recovered() {
    if (failing) {
      failing = false;
      log.info("{} works again after {} s and {} failures", name, failingFor(), failures);
      failures = 0;
    }
  }

  /** For how long the step has been failing; zero if it works. */
  public synchronized Duration failing() {
    return failing ? Duration.ofNanos(nanoTime.getAsLong() - failingSinceNanos) : Duration.ZERO;
  }

  private long failingFor() {
    return TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - failingSinceNanos);
  }
}
