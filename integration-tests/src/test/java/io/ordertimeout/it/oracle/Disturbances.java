package io.ordertimeout.it.oracle;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The times in which a fault was at work, or the platform was settling after one. Thread-safe. */
final class Disturbances {

  private record Window(Instant begin, Instant end) {}

  private final List<Window> windows = new ArrayList<>();

  /** Begins a disturbance, which lasts until {@link #end}; it may begin during another one. */
  synchronized void begin(Instant time) {
    windows.add(new Window(time, Instant.MAX));
  }

  /** Ends all disturbances that have begun and not ended. */
  synchronized void end(Instant time) {
    windows.replaceAll(
        window -> window.end.equals(Instant.MAX) ? new Window(window.begin, time) : window);
  }

  /** Whether there was a disturbance at any time from {@code first} to {@code last}. */
  synchronized boolean overlap(Instant first, Instant last) {
    return windows.stream()
        .anyMatch(window -> !window.begin.isAfter(last) && window.end.isAfter(first));
  }
}
