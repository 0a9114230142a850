package io.ordertimeout.local;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Statistics about orders, computed from the Kafka records and their append times alone, without
 * asking the service. Duplicate events of an order count once.
 *
 * <p>To bound memory, an order is forgotten a configured time after its first event. Thread-safe.
 */
final class OrderStatistics {
  private static final long LATENESS_WINDOW_MILLIS = 60_000;
  private static final long NEVER = Long.MAX_VALUE;

  private final long startMillis;
  private final long readyMillis;
  private final long keepMillis;
  private final Map<String, Entry> entries = new HashMap<>();
  private final Deque<Entry> byAge = new ArrayDeque<>();
  private final Deque<Lateness> latenesses = new ArrayDeque<>();
  private long created;
  private long paid;
  private long closed;
  private long cancelled;
  private long conflicts;
  private long warned;
  private long paidYetCancelled;

  /**
   * @param startMillis start of this run; earlier records are remembered but not counted
   * @param readyMillis when the service was ready; lateness ignores orders due before that
   * @param keep how long an order is remembered after its first event
   */
  OrderStatistics(long startMillis, long readyMillis, Duration keep) {
    this.startMillis = startMillis;
    this.readyMillis = readyMillis;
    this.keepMillis = keep.toMillis();
  }

  synchronized void created(String orderId, long appendedMillis) {
    Entry entry = entry(orderId, appendedMillis);
    if (!entry.created) {
      entry.created = true;
      created += inThisRun(appendedMillis);
    }
  }

  synchronized void paid(String orderId, long appendedMillis) {
    Entry entry = entry(orderId, appendedMillis);
    if (entry.paidMillis == NEVER) {
      paid += inThisRun(appendedMillis);
    }
    // The earliest payment counts.
    entry.paidMillis = Math.min(entry.paidMillis, appendedMillis);
    check(entry);
  }

  synchronized void closed(String orderId, long appendedMillis) {
    Entry entry = entry(orderId, appendedMillis);
    if (!entry.closed) {
      entry.closed = true;
      closed += inThisRun(appendedMillis);
    }
  }

  /** A payment of an order was under way, so it may be cancelled later than its deadline. */
  synchronized void attempted(String orderId, long appendedMillis) {
    entry(orderId, appendedMillis).attempted = true;
  }

  /** A customer was warned. */
  synchronized void warned() {
    warned++;
  }

  synchronized void cancelled(String orderId, long appendedMillis, long deadlineMillis) {
    Entry entry = entry(orderId, appendedMillis);
    if (!entry.cancelled) {
      entry.cancelled = true;
      entry.deadlineMillis = deadlineMillis;
      cancelled += inThisRun(appendedMillis);
      if (deadlineMillis >= readyMillis && !entry.attempted) {
        latenesses.addLast(new Lateness(appendedMillis, appendedMillis - deadlineMillis));
      }
      check(entry);
    }
  }

  synchronized void conflict() {
    conflicts++;
  }

  /** Removes expired entries and returns the current figures. */
  synchronized Summary summary(long nowMillis) {
    for (Entry entry = byAge.peekFirst();
        entry != null && entry.seenMillis < nowMillis - keepMillis;
        entry = byAge.peekFirst()) {
      byAge.removeFirst();
      entries.remove(entry.orderId);
    }
    while (!latenesses.isEmpty()
        && latenesses.getFirst().atMillis() < nowMillis - LATENESS_WINDOW_MILLIS) {
      latenesses.removeFirst();
    }
    long[] sorted = latenesses.stream().mapToLong(Lateness::millis).toArray();
    Arrays.sort(sorted);
    return new Summary(
        created,
        paid,
        closed,
        warned,
        cancelled,
        conflicts,
        paidYetCancelled,
        entries.size(),
        sorted.length,
        percentile(sorted, 0.50),
        percentile(sorted, 0.99));
  }

  private void check(Entry entry) {
    if (entry.cancelled && !entry.wronglyCancelled && entry.paidMillis < entry.deadlineMillis) {
      entry.wronglyCancelled = true;
      paidYetCancelled++;
    }
  }

  private int inThisRun(long appendedMillis) {
    return appendedMillis >= startMillis ? 1 : 0;
  }

  private Entry entry(String orderId, long appendedMillis) {
    return entries.computeIfAbsent(
        orderId,
        id -> {
          Entry entry = new Entry(id, appendedMillis);
          byAge.addLast(entry);
          return entry;
        });
  }

  /** Returns a percentile by the nearest-rank method; 0 if there are no values. */
  private static long percentile(long[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[(int) Math.ceil(share * sorted.length) - 1];
  }

  /**
   * Figures since the start of this run, with two exceptions: {@code remembered} is the number of
   * orders currently in memory, and the lateness figures cover cancellations of the last minute
   * whose orders came due after the service was ready.
   */
  record Summary(
      long created,
      long paid,
      long closed,
      long warned,
      long cancelled,
      long conflicts,
      long paidYetCancelled,
      int remembered,
      int latenesses,
      long latenessP50Millis,
      long latenessP99Millis) {}

  private record Lateness(long atMillis, long millis) {}

  private static final class Entry {
    private final String orderId;
    private final long seenMillis;
    private long paidMillis = NEVER;
    private long deadlineMillis;
    private boolean created;
    private boolean closed;
    private boolean attempted;
    private boolean cancelled;
    private boolean wronglyCancelled;

    private Entry(String orderId, long seenMillis) {
      this.orderId = orderId;
      this.seenMillis = seenMillis;
    }
  }
}
