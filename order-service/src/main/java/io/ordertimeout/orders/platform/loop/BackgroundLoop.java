package io.ordertimeout.orders.platform.loop;

import io.ordertimeout.orders.platform.monitoring.StepHealth;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * A bean that repeats a task on its own thread for as long as the bean runs. A failed run is
 * recorded and, after a pause, the next one starts: neither an exception nor an {@link Error} ends
 * the loop. If its thread ends nevertheless, liveness fails.
 */
public abstract class BackgroundLoop implements SmartLifecycle, LoopThreads {

  /** How long {@link #stop} waits for the current run to react to its interrupt. */
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

  private final StepHealth step;
  private final int phase;
  private final Duration pauseAfterFailure;
  private final String consequence;
  private volatile @Nullable Thread thread;
  private volatile boolean running;

  /**
   * Creates a loop that is not running yet.
   *
   * @param step records failures; its name becomes the thread's name
   * @param phase the phase of the life cycle in which the loop starts and stops
   * @param pauseAfterFailure pause between a failed run and the next
   * @param consequence what a failed run means for orders, for the log
   */
  protected BackgroundLoop(
      StepHealth step, int phase, Duration pauseAfterFailure, String consequence) {
    this.step = step;
    this.phase = phase;
    this.pauseAfterFailure = pauseAfterFailure;
    this.consequence = consequence;
  }

  /**
   * Runs the task once. Implementations wait for work themselves and record their success with the
   * step. An interrupt means that the loop is being stopped.
   */
  protected abstract void runOnce() throws Exception;

  @Override
  public void start() {
    running = true;
    Thread started = new Thread(this::run, step.name());
    thread = started;
    started.start();
  }

  /** Interrupts the current run, which is the last one. */
  final void requestStop() {
    running = false;
    Thread started = thread;
    if (started != null) {
      started.interrupt();
    }
  }

  /** Interrupts the current run and waits up to 5 s for the thread to end. */
  @Override
  public void stop() {
    requestStop();
    Thread started = thread;
    if (started == null) {
      return;
    }
    try {
      started.join(STOP_TIMEOUT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return phase;
  }

  @Override
  public List<String> endedThreads() {
    Thread started = thread;
    return running && started != null && !started.isAlive()
        ? List.of(started.getName())
        : List.of();
  }

  // An interrupt of a loop that is not being stopped counts as a failed run.
  private void run() {
    while (running) {
      try {
        runOnce();
      } catch (Throwable e) {
        if (running) {
          pauseAfter(e);
        }
      }
    }
  }

  private void pauseAfter(Throwable failure) {
    try {
      step.failed(consequence, failure);
    } catch (Throwable e) {
      // Even the log fails; the next run shows whether anything works again.
    }
    try {
      TimeUnit.MILLISECONDS.sleep(pauseAfterFailure.toMillis());
    } catch (InterruptedException e) {
      // The condition of the loop shows whether it is being stopped.
    }
  }
}
