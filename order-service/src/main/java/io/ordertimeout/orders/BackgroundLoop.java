package io.ordertimeout.orders;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that takes one turn after the other until it is stopped. A turn that fails is logged
 * and, after a pause, followed by the next: no failure ends the loop.
 */
public final class BackgroundLoop {

  /** One round of work; waits for its work by itself. */
  @FunctionalInterface
  public interface Turn {
    /** Takes the turn. An interrupt means that the loop is being stopped. */
    void take() throws InterruptedException;
  }

  private static final Logger log = LoggerFactory.getLogger(BackgroundLoop.class);

  private final Turn turn;
  private final Duration pauseAfterFailure;
  private final String consequence;
  private final Thread thread;
  private volatile boolean running = true;

  /**
   * Makes a loop that is not running yet.
   *
   * @param name the thread's name
   * @param turn what to do
   * @param pauseAfterFailure pause between a failed turn and the next
   * @param consequence what follows from a failed turn, for the log
   */
  public BackgroundLoop(String name, Turn turn, Duration pauseAfterFailure, String consequence) {
    this.turn = turn;
    this.pauseAfterFailure = pauseAfterFailure;
    this.consequence = consequence;
    this.thread = new Thread(this::run, name);
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
    log.warn(
        "{} failed: {}; trying again in {}",
        thread.getName(),
        consequence,
        pauseAfterFailure,
        failure);
    try {
      TimeUnit.MILLISECONDS.sleep(pauseAfterFailure.toMillis());
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }
}
