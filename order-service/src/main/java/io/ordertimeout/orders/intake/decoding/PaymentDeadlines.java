package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * How an order comes by its payment deadline: its own instant, else its own timeout, else the first
 * policy that matches it, else the default timeout.
 */
@Component
final class PaymentDeadlines {

  /** A deadline and what set it. */
  record PaymentDeadline(Instant deadline, String policy) {}

  private static final Duration CLOCK_TOLERANCE = Duration.ofDays(1);

  private final List<OrderTimeoutProperties.Policy> policies;
  private final Duration defaultTimeout;
  private final Duration maxTimeout;

  PaymentDeadlines(OrderTimeoutProperties properties) {
    this.policies = properties.deadline().policies();
    this.defaultTimeout = properties.deadline().defaultTimeout();
    this.maxTimeout = properties.deadline().maxTimeout();
  }

  /**
   * The deadline of an order.
   *
   * @param createdAt when it was created, or, if it does not say, when its record was
   * @param isStated whether it says so; if not, its record may have been under way for so long that
   *     even the instant by which it was to be paid is past
   */
  PaymentDeadline of(
      Instant createdAt,
      boolean isStated,
      Instant recordedAt,
      @Nullable Instant payBy,
      @Nullable Duration timeout,
      @Nullable String channel,
      @Nullable String paymentMethod)
      throws UnusableRecordException {
    // The record's timestamp is its producer's word and may itself be beyond all bounds.
    if (!Micros.isInRange(createdAt) || createdAt.isAfter(recordedAt.plus(CLOCK_TOLERANCE))) {
      throw new UnusableRecordException(
          "createdAt is not between 1970 and a day after the record's timestamp: " + createdAt);
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
    for (OrderTimeoutProperties.Policy policy : policies) {
      if (matches(policy.channel(), channel) && matches(policy.paymentMethod(), paymentMethod)) {
        return checked(createdAt, policy.timeout(), policy.name());
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
      throw new UnusableRecordException("the payment deadline is not before 10000: " + deadline);
    }
    return new PaymentDeadline(deadline, policy);
  }

  private static boolean matches(@Nullable String wanted, @Nullable String actual) {
    return wanted == null || wanted.equals(actual);
  }
}
