package io.ordertimeout.orders.platform.monitoring;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.springframework.stereotype.Component;

/** Counters of what this instance has done since its start. Thread-safe. */
@Component
public class ActivityCounters {

  /** Upper bounds of the histogram buckets for the lateness of cancellations. */
  public static final List<Duration> LATENESS_BOUNDS =
      IntStream.of(
              5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 600_000)
          .mapToObj(Duration::ofMillis)
          .toList();

  /**
   * A snapshot of the counters.
   *
   * @param registered orders that became pending
   * @param paid pending orders that were paid
   * @param closed pending orders that were closed
   * @param cancelled orders that were cancelled
   * @param conflicts payments whose order was already cancelled or closed
   * @param payments payments read, whatever the state of their order
   * @param lateness published cancellations by histogram bucket; the last bucket has no upper bound
   */
  public record Counts(
      long registered,
      long paid,
      long closed,
      long cancelled,
      long conflicts,
      long payments,
      List<Long> lateness) {

    /** The increase since an earlier snapshot. */
    public Counts since(Counts earlier) {
      return new Counts(
          registered - earlier.registered,
          paid - earlier.paid,
          closed - earlier.closed,
          cancelled - earlier.cancelled,
          conflicts - earlier.conflicts,
          payments - earlier.payments,
          IntStream.range(0, lateness.size())
              .mapToObj(i -> lateness.get(i) - earlier.lateness.get(i))
              .toList());
    }
  }

  private final LongAdder registered = new LongAdder();
  private final LongAdder paid = new LongAdder();
  private final LongAdder closed = new LongAdder();
  private final LongAdder cancelled = new LongAdder();
  private final LongAdder conflicts = new LongAdder();
  private final LongAdder payments = new LongAdder();
  private final LongAdder[] lateness =
      IntStream.rangeClosed(0, LATENESS_BOUNDS.size())
          .mapToObj(i -> new LongAdder())
          .toArray(LongAdder[]::new);

  /** Adds the outcomes of a stored batch of events. */
  public void eventsStored(int registered, int paid, int closed, int conflicts, int payments) {
    this.registered.add(registered);
    this.paid.add(paid);
    this.closed.add(closed);
    this.conflicts.add(conflicts);
    this.payments.add(payments);
  }

  /** Adds cancelled orders. */
  public void cancelled(int orders) {
    cancelled.add(orders);
  }

  /** Adds a published cancellation with its lateness. */
  public void published(Duration late) {
    int bucket = 0;
    while (bucket < LATENESS_BOUNDS.size() && late.compareTo(LATENESS_BOUNDS.get(bucket)) > 0) {
      bucket++;
    }
    lateness[bucket].increment();
  }

  /** A snapshot of the counters, which are not read atomically together. */
  public Counts counts() {
    return new Counts(
        registered.sum(),
        paid.sum(),
        closed.sum(),
        cancelled.sum(),
        conflicts.sum(),
        payments.sum(),
        Arrays.stream(lateness).map(LongAdder::sum).toList());
  }
}
