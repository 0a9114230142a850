package io.ordertimeout.benchmarks;

import java.time.Duration;

/** Tells on the console what is being measured and since when. */
final class Progress {

  private final long startNanos = System.nanoTime();

  void say(String what) {
    System.out.println("[" + elapsed().toSeconds() + " s] " + what);
  }

  Duration elapsed() {
    return Duration.ofNanos(System.nanoTime() - startNanos);
  }
}
