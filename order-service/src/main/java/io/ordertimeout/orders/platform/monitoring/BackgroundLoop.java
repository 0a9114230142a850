package io.ordertimeout.orders.platform.monitoring;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * A bean with a thread that takes one turn after the other while the bean runs. A turn that fails
 * is noted and, after a pause, followed by the next: no failure ends the loop.
 */
public abstract class BackgroundLoop implements SmartLifecycle {

  /** How long a turn under way may take to notice its interrupt. */
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(5);

  private final StepHealth step;
  private final int phase;
  private final Duration pauseAfterFailure;
  private final String consequence;
  private volatile @Nullable Thread thread;
  private volatile boolean running;

  /**
   * Makes a loop that is not running yet.
   *
   * @param step what to note failures with; its name becomes the thread's
   * @param phase when to start and stop, in the order of Spring's life cycle
   * @param pauseAfterFailure pause between a failed turn and the next
   * @param consequence what follows from a failed turn, for the log
   */
  protected BackgroundLoop(
      StepHealth step, int phase, Duration pauseAfterFailure, String consequence) {
    this.step = step;
    this.phase = phase;
    this.pauseAfterFailure = pauseAfterFailure;
    this.consequence = consequence;
  }

  /**
   * One round of work; waits for its work by itself, and notes with the step that it succeeded. An
   * interrupt means that the loop is being stopped.
   */
  protected abstract void turn() throws InterruptedException;

  @Override
  public void start() {
    running = true;
    Thread started = new Thread(this::run, step.name());
    thread = started;
    started.start();
  }

  /** Interrupts the turn under way and waits a little for the thread to end. */
  @Override
  public void stop() {
    running = false;
    Thread started = thread;
    if (started == null) {
      return;
    }
    started.interrupt();
    try {
      started.join(STOP_PATIENCE.toMillis());
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

  private void run() {
    while (running) {
      try {
        turn();
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException e) {
        if (!running || !pause(e)) {
          return;
        }
      }
    }
  }

  private boolean pause(RuntimeException failure) {
    step.failed(consequence, failure);
    try {
      TimeUnit.MILLISECONDS.sleep(pauseAfterFailure.toMillis());
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }
}
