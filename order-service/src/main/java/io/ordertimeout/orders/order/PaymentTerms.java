package io.ordertimeout.orders.order;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Until when an order may be paid. The terms are fixed when it is registered.
 *
 * @param deadline its payment deadline, in whole microseconds; null if a policy exempts it
 * @param policy what set the deadline, or exempts the order
 * @param grace how long after its deadline it is not cancelled yet, in whole seconds
 * @param warnings how long before its deadline warnings are published, in whole seconds, the
 *     longest first
 * @param warningsOver how many of these are over already when it is registered
 * @param confirm how long after its deadline it waits for a confirmation, in whole seconds; null if
 *     it need not
 * @param cancelUnconfirmed whether it is cancelled without one, instead of parked
 */
public record PaymentTerms(
    @Nullable Instant deadline,
    String policy,
    Duration grace,
    List<Duration> warnings,
    int warningsOver,
    @Nullable Duration confirm,
    boolean cancelUnconfirmed) {

  /** Whether there is nothing but a deadline, or none. */
  boolean isDeadlineOnly() {
    return equals(of(deadline, policy));
  }

  /** Terms without a grace, warnings and confirmation. */
  public static PaymentTerms of(@Nullable Instant deadline, String policy) {
    return new PaymentTerms(deadline, policy, Duration.ZERO, List.of(), 0, null, false);
  }
}
