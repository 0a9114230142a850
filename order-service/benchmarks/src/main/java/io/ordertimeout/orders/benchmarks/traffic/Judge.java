package io.ordertimeout.orders.benchmarks.traffic;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * Judges, from Kafka's append times alone, what became of the orders of one run: each unpaid order
 * cancelled once and not early, no other order cancelled. Thread-safe; 17 bytes for each order.
 */
public final class Judge {

  private static final long NEVER = Long.MAX_VALUE;
  private static final long LONGEST_MILLIS = 3_600_000;
  private static final int DIGITS = 3;

  /**
   * What was found.
   *
   * @param cancelled the number of orders that were rightly cancelled
   * @param violations descriptions of what must not have happened, at most a few of each kind
   */
  public record Verdict(long cancelled, List<String> violations) {

    public Verdict {
      violations = List.copyOf(violations);
    }
  }

  private final long firstNumber;
  private final long[] deadlines;
  private final long[] paidAt;
  private final long[] cancelledAt;
  private final List<String> violations = new ArrayList<>();
  private final Recorder lateness = new Recorder(LONGEST_MILLIS, DIGITS);
  private int created;
  private int cancelled;
  private int unpaid;
  private long lastCancelledAt;

  /**
   * Judges orders of consecutive numbers.
   *
   * @param firstNumber the number of the first one
   * @param orders how many there may be
   */
  Judge(long firstNumber, int orders) {
    this.firstNumber = firstNumber;
    this.deadlines = new long[orders];
    this.paidAt = new long[orders];
    this.cancelledAt = new long[orders];
  }

  /** Notes the creation of the next order; returns its number. */
  synchronized long created(long deadlineMillis) {
    int order = created++;
    deadlines[order] = deadlineMillis;
    paidAt[order] = NEVER;
    unpaid++;
    return firstNumber + order;
  }

  /** Notes that a payment is being sent; until it is stored, it may count as in time or not. */
  synchronized void paying(long number) {
    unpaid--;
    paidAt[index(number)] = 0;
  }

  /** Notes when Kafka stored the payment. */
  synchronized void paid(long number, long appendMillis) {
    int order = index(number);
    paidAt[order] = appendMillis;
    if (appendMillis >= deadlines[order]) {
      violations.add(OrderIds.of(number) + ": the benchmark has paid it too late");
    }
  }

  /** Notes a cancellation. Those of other runs are ignored. */
  synchronized void cancelled(long number, long appendMillis) {
    if (number < firstNumber || number >= firstNumber + created) {
      return;
    }
    int order = index(number);
    if (cancelledAt[order] != 0) {
      violate(number, "cancelled twice");
      return;
    }
    cancelledAt[order] = appendMillis;
    if (paidAt[order] != NEVER) {
      violate(number, "cancelled although paid in time");
      return;
    }
    if (appendMillis < deadlines[order]) {
      violate(number, "cancelled " + (deadlines[order] - appendMillis) + " ms early");
    }
    cancelled++;
    lastCancelledAt = Math.max(lastCancelledAt, appendMillis);
    lateness.recordValue(Math.min(LONGEST_MILLIS, Math.max(0, appendMillis - deadlines[order])));
  }

  private int index(long number) {
    return Math.toIntExact(number - firstNumber);
  }

  private void violate(long number, String what) {
    if (violations.size() < 10) {
      violations.add(OrderIds.of(number) + ": " + what);
    }
  }

  /** The number of orders that were cancelled so far and had not been paid. */
  public synchronized int cancelled() {
    return cancelled;
  }

  /** The number of orders so far that nobody has paid. */
  public synchronized int unpaid() {
    return unpaid;
  }

  /** When Kafka stored the latest cancellation, in milliseconds; 0 if there is none. */
  public synchronized long lastCancelledAt() {
    return lastCancelledAt;
  }

  /** The latenesses since the last call, in milliseconds. */
  public Histogram latenessSinceLastCall() {
    return lateness.getIntervalHistogram();
  }

  /** Returns the verdict, after the last cancellation that is waited for. */
  public synchronized Verdict verdict() {
    List<String> all = new ArrayList<>(violations);
    if (cancelled < unpaid) {
      all.add((unpaid - cancelled) + " of " + unpaid + " unpaid orders were not cancelled");
    }
    return new Verdict(cancelled, all);
  }
}
