package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.PaymentPolicy;
import io.ordertimeout.orders.PaymentPolicy.Unconfirmed;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.order.PaymentTerms;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Determines until when an order may be paid. Its deadline is the one in its event, else follows
 * from the timeout in its event, else from the first policy that matches, else from the default
 * timeout. All else follows from the policy.
 */
@Component
final class PaymentDeadlines {

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
   * Returns until when an order may be paid.
   *
   * @param createdAt when the order was created; if its event does not state it, the record's
   *     timestamp
   * @param isStated whether the event states {@code createdAt}. If it does not, the record may have
   *     been produced so late that even the stated deadline had passed.
   * @param now the time of the intake by Postgres's clock, which bounds the deadline whatever
   *     producers state
   */
  PaymentTerms of(
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
    PaymentPolicy policy = policy(channel, paymentMethod, amount);
    if (payBy != null) {
      boolean isPast = !isStated && !payBy.isAfter(createdAt) && Micros.isInRange(payBy);
      Instant deadline =
          isPast
              ? Micros.roundUp(payBy)
              : checked("creation", createdAt, Duration.between(createdAt, payBy), "PAY_BY");
      return terms(deadline, "PAY_BY", policy, now);
    }
    if (timeout != null) {
      return terms(checked("creation", createdAt, timeout, "TIMEOUT"), "TIMEOUT", policy, now);
    }
    if (policy == null) {
      return PaymentTerms.of(checked("creation", createdAt, defaultTimeout, "DEFAULT"), "DEFAULT");
    }
    if (policy.exempt()) {
      return PaymentTerms.of(null, policy.name());
    }
    Duration untilDeadline = Duration.between(createdAt, policy.deadline(createdAt, holidays));
    return terms(
        checked("creation", createdAt, untilDeadline, policy.name()), policy.name(), policy, now);
  }

  /**
   * Returns until when an order may be paid from now on; null if that does not change.
   *
   * @param changedAt when it was changed, from when a timeout counts
   * @param policyName the policy that applies from now on; null if that does not change
   */
  @Nullable PaymentTerms changed(
      Instant changedAt,
      Instant now,
      @Nullable Instant payBy,
      @Nullable Duration timeout,
      @Nullable String policyName)
      throws UnusableRecordException {
    if (!Micros.isInRange(changedAt) || RecordTime.isAhead(changedAt, now)) {
      throw new UnusableRecordException(
          "changedAt is not between 1970 and a day after its intake at " + now + ": " + changedAt);
    }
    PaymentPolicy policy = policyName == null ? null : named(policyName);
    if (payBy != null) {
      Duration untilDeadline = Duration.between(changedAt, payBy);
      return terms(checked("change", changedAt, untilDeadline, "PAY_BY"), "PAY_BY", policy, now);
    }
    if (timeout != null) {
      return terms(checked("change", changedAt, timeout, "TIMEOUT"), "TIMEOUT", policy, now);
    }
    if (policy == null) {
      return null;
    }
    Duration untilDeadline = Duration.between(changedAt, policy.deadline(changedAt, holidays));
    return terms(
        checked("change", changedAt, untilDeadline, policy.name()), policy.name(), policy, now);
  }

  private PaymentPolicy named(String name) throws UnusableRecordException {
    PaymentPolicy named =
        policies.stream().filter(policy -> policy.name().equals(name)).findFirst().orElse(null);
    if (named == null) {
      throw new UnusableRecordException(
          "it names a policy that is not among order-timeout.deadline.policies: "
              + EventFields.excerpt(name));
    }
    if (named.exempt()) {
      throw new UnusableRecordException(
          "it names the policy %s, which exempts orders: only new ones, others have to be closed"
              .formatted(EventFields.excerpt(name)));
    }
    return named;
  }

  private @Nullable PaymentPolicy policy(
      @Nullable String channel, @Nullable String paymentMethod, @Nullable Amount amount) {
    BigDecimal value = amount == null ? null : amount.value();
    String currency = amount == null ? null : amount.currency();
    for (PaymentPolicy policy : policies) {
      if (policy.matches(channel, paymentMethod, value, currency)) {
        return policy;
      }
    }
    return null;
  }

  private static PaymentTerms terms(
      Instant deadline, String setBy, @Nullable PaymentPolicy policy, Instant now) {
    if (policy == null) {
      return PaymentTerms.of(deadline, setBy);
    }
    List<Duration> warnings = policy.warnings();
    int over = (int) warnings.stream().filter(lead -> !deadline.minus(lead).isAfter(now)).count();
    if (policy.confirm() != null) {
      // The last one is the question; it is asked late rather than not.
      over = Math.min(over, warnings.size() - 1);
    }
    boolean isAnyLeft = over < warnings.size();
    return new PaymentTerms(
        deadline,
        setBy,
        Objects.requireNonNullElse(policy.grace(), Duration.ZERO),
        isAnyLeft ? warnings : List.of(),
        isAnyLeft ? over : 0,
        policy.confirm(),
        policy.confirm() != null && policy.unconfirmed() == Unconfirmed.CANCEL);
  }

  private Instant checked(String event, Instant since, Duration timeout, String policy)
      throws UnusableRecordException {
    if (timeout.isNegative() || timeout.isZero()) {
      throw new UnusableRecordException(
          "the payment deadline is not after the %s: %s %s".formatted(event, policy, timeout));
    }
    if (timeout.compareTo(maxTimeout) > 0) {
      throw new UnusableRecordException(
          "the payment deadline is more than %s after the %s: %s %s"
              .formatted(maxTimeout, event, policy, timeout));
    }
    Instant deadline = Micros.roundUp(since.plus(timeout));
    if (!Micros.isInRange(deadline)) {
      throw new UnusableRecordException(
          "the payment deadline is not before the year 10000: " + deadline);
    }
    return deadline;
  }
}
