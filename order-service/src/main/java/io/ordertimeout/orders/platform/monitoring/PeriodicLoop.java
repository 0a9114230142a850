package io.ordertimeout.orders.platform.monitoring;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A background loop whose task runs at an interval, for the first time one interval after the
 * start. A failed run is repeated soon, however long the interval is: while a step is failing, its
 * instance is not ready.
 */
public abstract class PeriodicLoop extends BackgroundLoop {

  private static final Duration LONGEST_RETRY_DELAY = Duration.ofSeconds(5);

  private final StepHealth step;
  private final Duration interval;

  /**
   * Creates a loop that is not running yet.
   *
   * @param step records failures and successes; its name becomes the thread's name
   * @param phase the phase of the life cycle in which the loop starts and stops
   * @param interval pause between two runs
   * @param consequence what a failed run means for orders, for the log
   */
  protected PeriodicLoop(StepHealth step, int phase, Duration interval, String consequence) {
    super(step, phase, shorter(interval, LONGEST_RETRY_DELAY), consequence);
    this.step = step;
    this.interval = interval;
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /** Runs the task once. An interrupt means that the loop is being stopped. */
  protected abstract void runTask() throws InterruptedException;

  @Override
  protected final void runOnce() throws InterruptedException {
    if (step.failingFor().isZero()) {
      TimeUnit.MILLISECONDS.sleep(interval.toMillis());
    }
    runTask();
    step.succeeded();
  }
}
