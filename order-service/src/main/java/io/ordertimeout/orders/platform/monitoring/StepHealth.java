package io.ordertimeout.orders.platform.monitoring;

import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;

/**
 * The health of one processing step, and the log of its failures. To keep an outage from flooding
 * the log, only the first failure is logged, with its stack trace unless it is an {@linkplain
 * Outage outage}; a reminder follows every 30 s, and finally a line when the step has recovered.
 * Thread-safe.
 */
public final class StepHealth {

  private static final Logger log = LoggerFactory.getLogger(StepHealth.class);
  private static final Duration REMINDER = Duration.ofSeconds(30);

  private final String name;
  private final LongSupplier nanoTime;
  private final Set<Object> failedWork = new HashSet<>();
  private volatile boolean failing;
  private long failingSinceNanos;
  private long loggedAtNanos;
  private long failures;

  StepHealth(String name, LongSupplier nanoTime) {
    this.name = name;
    this.nanoTime = nanoTime;
  }

  /**
   * Creates a step whose failures are logged, and do not make the instance unready: for causes
   * outside, which no other instance escapes.
   */
  public static StepHealth withoutReadiness(String name) {
    return new StepHealth(name, System::nanoTime);
  }

  /** The name of the step. */
  public String name() {
    return name;
  }

  /**
   * Records a failure, which lasts until the next success.
   *
   * @param consequence what the failure means for orders, for the log
   */
  public void failed(String consequence, Throwable failure) {
    failed(consequence, failure, this);
  }

  /**
   * Records a failure, which lasts until the next success, or until all work that has failed since
   * the last success is {@linkplain #abandoned abandoned}.
   *
   * @param consequence what the failure means for orders, for the log
   * @param work what has failed, and will be retried or abandoned
   */
  public synchronized void failed(String consequence, Throwable failure, Object work) {
    failedWork.add(work);
    long now = nanoTime.getAsLong();
    failures++;
    if (!failing) {
      failing = true;
      failingSinceNanos = now;
      loggedAtNanos = now;
      if (Outage.isOutage(failure)) {
        log.warn("{} failed: {}; the failure: {}", name, consequence, describe(failure));
      } else {
        log.warn("{} failed: {}", name, consequence, failure);
      }
    } else if (now - loggedAtNanos >= REMINDER.toNanos()) {
      loggedAtNanos = now;
      log.warn(
          "{} has been failing for {} s, {} times: {}; last failure: {}",
          name,
          TimeUnit.NANOSECONDS.toSeconds(now - failingSinceNanos),
          failures,
          consequence,
          describe(failure));
    }
  }

  /** Describes a failure and its cause in one line for the log. */
  public static String describe(Throwable failure) {
    Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof SQLException) {
        // It names the server, unlike the failure of the network beneath it.
        cause = each;
      }
    }
    return cause == failure ? failure.toString() : failure + "; caused by " + cause;
  }

  /** Records a success; cheap while the step is not failing. */
  public void succeeded() {
    if (failing) {
      recovered();
    }
  }

  private synchronized void recovered() {
    if (failing) {
      log.info("{} recovered after {} s and {} failures", name, failingFor().toSeconds(), failures);
      reset();
    }
  }

  /** Records that work, which may have failed, will not be retried by this instance. */
  public synchronized void abandoned(Object work) {
    if (failedWork.remove(work) && failedWork.isEmpty()) {
      log.info(
          "{} has nothing left to retry, after {} s and {} failures",
          name,
          failingFor().toSeconds(),
          failures);
      reset();
    }
  }

  private void reset() {
    failing = false;
    failures = 0;
    failedWork.clear();
  }

  /** How long the step has been failing; zero if it works. */
  public synchronized Duration failingFor() {
    return failing ? Duration.ofNanos(nanoTime.getAsLong() - failingSinceNanos) : Duration.ZERO;
  }
}
