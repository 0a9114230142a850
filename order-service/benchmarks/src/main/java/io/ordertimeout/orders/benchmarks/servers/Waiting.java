package io.ordertimeout.orders.benchmarks.servers;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits for what happens in other processes. */
public final class Waiting {

  private static final long POLL_MILLIS = 50;

  private Waiting() {}

  /** Returns whether it became true in time. */
  public static boolean until(BooleanSupplier condition, Duration patience) {
    long deadline = System.nanoTime() + patience.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        return false;
      }
      pause(POLL_MILLIS);
    }
    return true;
  }

  /** Lets time pass. */
  public static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
