package io.ordertimeout.benchmarks;

import java.time.Duration;

/** Prints the progress of a run with the elapsed time. */
final class Progress {

  private final long startNanos = System.nanoTime();

  void log(String what) {
    System.out.println("[" + elapsed().toSeconds() + " s] " + what);
  }

  Duration elapsed() {
    return Duration.ofNanos(System.nanoTime() - startNanos);
  }
}
