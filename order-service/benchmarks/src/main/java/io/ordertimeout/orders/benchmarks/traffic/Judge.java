package io.ordertimeout.orders.benchmarks.traffic;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * Judges, from Kafka's append times alone, what became of the orders of one run: each unpaid order
 * cancelled once and not early, no other order cancelled. Thread-safe; 24 bytes for each order.
 */
public final class Judge {

  private static final long NEVER = Long.MAX_VALUE;

  /** Kafka has not confirmed the payment. */
  private static final long UNKNOWN = Long.MAX_VALUE - 1;

  private static final long LONGEST_MILLIS = 3_600_000;
  private static final int DIGITS = 3;

  /**
   * What was found.
   *
   * @param cancelled the number of orders that were rightly cancelled
   * @param publishedAgain the number of cancellations of orders whose cancellation was published
   *     before, which only a crash excuses
   * @param violations descriptions of what must not have happened, one for each kind
   */
  public record Verdict(long cancelled, long publishedAgain, List<String> violations) {

    public Verdict {
      violations = List.copyOf(violations);
    }

    /** The violations if nothing crashed. */
    public List<String> violationsWithoutCrash() {
      List<String> all = new ArrayList<>(violations);
      if (publishedAgain > 0) {
        all.add(publishedAgain + " cancellations were published again");
      }
      return all;
    }
  }

  private final long firstNumber;
  private final long[] deadlines;
  private final long[] paidAt;
  private final long[] cancelledAt;
  private final Recorder lateness = new Recorder(LONGEST_MILLIS, DIGITS);
  private int created;
  private int cancelled;
  private int unpaid;
  private long repeated;
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

  /** Notes that a payment is being sent; its order is not expected to be cancelled any more. */
  synchronized void paying(long number) {
    unpaid--;
    paidAt[index(number)] = UNKNOWN;
  }

  /** Notes when Kafka stored the payment. */
  synchronized void paid(long number, long appendMillis) {
    paidAt[index(number)] = appendMillis;
  }

  /** Notes a cancellation. Those of other runs are ignored. */
  synchronized void cancelled(long number, long appendMillis) {
    if (number < firstNumber || number >= firstNumber + created) {
      return;
    }
    int order = index(number);
    if (cancelledAt[order] != 0) {
      repeated++;
      return;
    }
    cancelledAt[order] = appendMillis;
    if (paidAt[order] == NEVER) {
      cancelled++;
      lastCancelledAt = Math.max(lastCancelledAt, appendMillis);
      lateness.recordValue(Math.min(LONGEST_MILLIS, Math.max(0, appendMillis - deadlines[order])));
    }
  }

  private int index(long number) {
    return Math.toIntExact(number - firstNumber);
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

  /**
   * Returns the verdict, after the last cancellation that is waited for. An order whose payment was
   * stored after its deadline, because the machine was too busy, may be cancelled or not.
   */
  public synchronized Verdict verdict() {
    Map<String, Long> found = new LinkedHashMap<>();
    for (int order = 0; order < created; order++) {
      if (cancelledAt[order] == 0) {
        if (paidAt[order] == NEVER) {
          found.merge("not cancelled although unpaid", 1L, Long::sum);
        }
      } else if (paidAt[order] != UNKNOWN && paidAt[order] < deadlines[order]) {
        found.merge("cancelled although paid in time", 1L, Long::sum);
      } else if (cancelledAt[order] < deadlines[order]) {
        found.merge("cancelled early", 1L, Long::sum);
      }
    }
    List<String> violations = new ArrayList<>();
    found.forEach((what, orders) -> violations.add(orders + " orders were " + what));
    return new Verdict(cancelled, repeated, violations);
  }
}
