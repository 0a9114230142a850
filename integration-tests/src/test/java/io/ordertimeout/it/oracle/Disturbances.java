package io.ordertimeout.it.oracle;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The times in which a fault was at work, or the platform was settling after one. Thread-safe. */
final class Disturbances {

  /** The time of a disturbance of one shard, or of all if there is none. */
  private record Window(Instant begin, Instant end, @Nullable Integer shard) {

    Window until(Instant time) {
      return new Window(begin, time, shard);
    }

    boolean concerns(int other) {
      return shard == null || shard == other;
    }

    boolean overlaps(Instant first, Instant last) {
      return !begin.isAfter(last) && end.isAfter(first);
    }
  }

  private final List<Window> windows = new ArrayList<>();

  /** Begins a disturbance, which lasts until {@link #end}; it may begin during another one. */
  synchronized void begin(Instant time) {
    windows.add(new Window(time, Instant.MAX, null));
  }

  /** Begins a disturbance of one shard. */
  synchronized void begin(Instant time, int shard) {
    windows.add(new Window(time, Instant.MAX, shard));
  }

  /** Ends all disturbances that have begun and not ended. */
  synchronized void end(Instant time) {
    windows.replaceAll(window -> window.end.equals(Instant.MAX) ? window.until(time) : window);
  }

  /** Whether any shard was disturbed at any time from {@code first} to {@code last}. */
  synchronized boolean overlap(Instant first, Instant last) {
    return windows.stream().anyMatch(window -> window.overlaps(first, last));
  }

  /** Whether the shard was disturbed at any time from {@code first} to {@code last}. */
  synchronized boolean overlap(int shard, Instant first, Instant last) {
    return windows.stream()
        .anyMatch(window -> window.concerns(shard) && window.overlaps(first, last));
  }
}
