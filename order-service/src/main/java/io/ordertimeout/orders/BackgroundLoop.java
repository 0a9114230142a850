package io.ordertimeout.orders;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A thread that takes one turn after the other until it is stopped. A turn that fails is noted and,
 * after a pause, followed by the next: no failure ends the loop.
 */
public final class BackgroundLoop {

  /** One round of work; waits for its work by itself. */
  @FunctionalInterface
  public interface Turn {
    /** Takes the turn. An interrupt means that the loop is being stopped. */
    void take() throws InterruptedException;
  }

  private final Turn turn;
  private final Duration pauseAfterFailure;
  private final Step step;
  private final String consequence;
  private final Thread thread;
  private volatile boolean running = true;

  /**
   * Makes a loop that is not running yet.
   *
   * @param step what to note failures with; a turn that did its work notes that itself. Its name
   *     becomes the thread's
   * @param turn what to do
   * @param pauseAfterFailure pause between a failed turn and the next
   * @param consequence what follows from a failed turn, for the log
   */
  public BackgroundLoop(Step step, Turn turn, Duration pauseAfterFailure, String consequence) {
    this.turn = turn;
    this.pauseAfterFailure = pauseAfterFailure;
    this.step = step;
    this.consequence = consequence;
    this.thread = new Thread(this::run, step.name());
  }

  /** Starts the thread; to be called once. */
  public void start() {
    thread.start();
  }

  /** Interrupts the turn under way and waits for the thread to end, at most that long. */
  public void stop(Duration patience) {
    running = false;
    thread.interrupt();
    try {
      thread.join(patience.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    while (running) {
      try {
        turn.take();
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
