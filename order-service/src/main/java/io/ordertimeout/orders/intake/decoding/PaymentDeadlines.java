package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.PaymentPolicy;
import io.ordertimeout.orders.order.Amount;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Determines the payment deadline of an order: the deadline in its event, else the timeout in its
 * event, else that of the first policy that matches, else the default timeout.
 */
@Component
final class PaymentDeadlines {

  /** A deadline and the name of the rule that set it. */
  record PaymentDeadline(Instant deadline, String policy) {}

  private final List<PaymentPolicy> policies;
  private final Set<LocalDate> holidays;
  private final Duration defaultTimeout;
  private final Duration maxTimeout;

  PaymentDeadlines(OrderTimeoutProperties properties) {
    this.policies = properties.deadline().policies();
    this.holidays = properties.deadline().holidays();
    this.defaultTimeout = properties.deadline().defaultTimeout();
    this.maxTimeout = properties.deadline().maxTimeout();
  }

  /**
   * Returns the payment deadline of an order.
   *
   * @param createdAt when the order was created; if its event does not state it, the record's
   *     timestamp
   * @param isStated whether the event states {@code createdAt}. If it does not, the record may have
   *     been produced so late that even the stated deadline had passed.
   * @param now the time of the intake by Postgres's clock, which bounds the deadline whatever
   *     producers state
   */
  PaymentDeadline of(
      Instant createdAt,
      boolean isStated,
      Instant now,
      @Nullable Instant payBy,
      @Nullable Duration timeout,
      @Nullable String channel,
      @Nullable String paymentMethod,
      @Nullable Amount amount)
      throws UnusableRecordException {
    if (!Micros.isInRange(createdAt) || RecordTime.isAhead(createdAt, now)) {
      throw new UnusableRecordException(
          "createdAt is not between 1970 and a day after its intake at " + now + ": " + createdAt);
    }
    if (payBy != null) {
      boolean isPast = !isStated && !payBy.isAfter(createdAt) && Micros.isInRange(payBy);
      return isPast
          ? new PaymentDeadline(Micros.roundUp(payBy), "PAY_BY")
          : checked(createdAt, Duration.between(createdAt, payBy), "PAY_BY");
    }
    if (timeout != null) {
      return checked(createdAt, timeout, "TIMEOUT");
    }
    BigDecimal value = amount == null ? null : amount.value();
    String currency = amount == null ? null : amount.currency();
    for (PaymentPolicy policy : policies) {
      if (policy.matches(channel, paymentMethod, value, currency)) {
        Instant deadline = policy.deadline(createdAt, holidays);
        return checked(createdAt, Duration.between(createdAt, deadline), policy.name());
      }
    }
    return checked(createdAt, defaultTimeout, "DEFAULT");
  }

  private PaymentDeadline checked(Instant createdAt, Duration timeout, String policy)
      throws UnusableRecordException {
    if (timeout.isNegative() || timeout.isZero()) {
      throw new UnusableRecordException(
          "the payment deadline is not after the creation: " + policy + " " + timeout);
    }
    if (timeout.compareTo(maxTimeout) > 0) {
      throw new UnusableRecordException(
          "the payment deadline is more than "
              + maxTimeout
              + " after the creation: "
              + policy
              + " "
              + timeout);
    }
    Instant deadline = Micros.roundUp(createdAt.plus(timeout));
    if (!Micros.isInRange(deadline)) {
      throw new UnusableRecordException(
          "the payment deadline is not before the year 10000: " + deadline);
    }
    return new PaymentDeadline(deadline, policy);
  }
}
