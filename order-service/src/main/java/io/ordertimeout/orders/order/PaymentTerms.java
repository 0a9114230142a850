package io.ordertimeout.orders.order;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Until when an order may be paid. The terms are fixed when it is registered.
 *
 * @param deadline its payment deadline, in whole microseconds; null if a policy exempts it
 * @param policy what set the deadline, or exempts the order
 * @param grace how long after its deadline it is not cancelled yet, in whole seconds
 */
public record PaymentTerms(@Nullable Instant deadline, String policy, Duration grace) {}
