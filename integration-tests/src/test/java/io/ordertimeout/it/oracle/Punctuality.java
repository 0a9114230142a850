package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.HistoryEvent.Cancellation;
import io.ordertimeout.it.oracle.HistoryEvent.Change;
import io.ordertimeout.it.oracle.HistoryEvent.Creation;
import io.ordertimeout.it.oracle.Violation.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How late cancellations were published for the first time: from the deadline, which is a time by
 * Postgres's clock, to the time at which the broker appended the record. The two clocks may differ
 * by {@link ClockOffset#ALLOWED_SKEW}.
 */
final class Punctuality {

  /** A later publication breaks the promise, unless the run allows more. */
  static final Duration USUAL_LIMIT = Duration.ofSeconds(5);

  private static final Duration PROMPT = Duration.ofMillis(250);

  private final Disturbances disturbances;
  private final Duration limit;
  private final List<Long> latenesses = new ArrayList<>();
  private int undisturbed;
  private int prompt;
  private Duration latestUndisturbed = Duration.ZERO;

  /** Allows cancellations that late, and more in times that were disturbed. */
  Punctuality(Disturbances disturbances, Duration limit) {
    this.disturbances = disturbances;
    this.limit = limit;
  }

  /** Measures an order, if it was cancelled; returns the promise that it breaks, if any. */
  Optional<Violation> add(OrderHistory order) {
    Creation creation = order.creation();
    // What is held is not due at its deadline.
    boolean isHeld = !order.attempts().isEmpty();
    if (creation == null || order.cancellations().isEmpty() || isHeld) {
      return Optional.empty();
    }
    Cancellation first = order.cancellations().get(0);
    // An order that arrives, or is changed, after its deadline is due then.
    Instant due =
        Stream.concat(
                Stream.of(creation.deadline(), creation.appendedAt()),
                order.changes().stream()
                    .filter(change -> change.deadline().equals(creation.deadline()))
                    .map(Change::appendedAt))
            .max(Comparator.naturalOrder())
            .orElseThrow();
    Duration lateness = Duration.between(due, first.appendedAt());
    latenesses.add(lateness.toMillis());
    int shard = creation.position().partition();
    if (disturbances.overlap(shard, due, due.plus(limit))) {
      return Optional.empty();
    }
    undisturbed++;
    prompt += lateness.compareTo(PROMPT) <= 0 ? 1 : 0;
    if (lateness.compareTo(latestUndisturbed) > 0) {
      latestUndisturbed = lateness;
    }
    return lateness.compareTo(limit.plus(ClockOffset.ALLOWED_SKEW)) <= 0
        ? Optional.empty()
        : Optional.of(
            new Violation(
                Kind.LATE,
                "published " + lateness.toMillis() + " ms after it was due",
                order.toString()));
  }

  /** Returns the number of cancellations that no disturbance excuses. */
  int undisturbed() {
    return undisturbed;
  }

  @Override
  public String toString() {
    long[] sorted = latenesses.stream().mapToLong(Long::longValue).sorted().toArray();
    return "lateness p50 %d ms, p99 %d ms, max %d ms; undisturbed: %d of %d, %.2f%% within %d ms, max %d ms"
        .formatted(
            percentile(sorted, 0.5),
            percentile(sorted, 0.99),
            percentile(sorted, 1),
            undisturbed,
            sorted.length,
            undisturbed == 0 ? 100 : 100.0 * prompt / undisturbed,
            PROMPT.toMillis(),
            latestUndisturbed.toMillis());
  }

  /** Returns the percentile by the nearest-rank method. */
  private static long percentile(long[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[(int) Math.ceil(share * sorted.length) - 1];
  }
}
