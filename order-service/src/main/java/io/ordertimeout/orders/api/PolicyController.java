package io.ordertimeout.orders.api;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.PaymentPolicy;
import io.ordertimeout.orders.PaymentPolicy.Amounts;
import io.ordertimeout.orders.PaymentPolicy.Unconfirmed;
import io.ordertimeout.orders.intake.decoding.DeadlinePreview;
import io.ordertimeout.orders.intake.decoding.DeadlinePreview.Preview;
import io.ordertimeout.orders.operator.InvalidRequestException;
import io.ordertimeout.orders.operator.WhatIf;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.values.StatedDuration;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Size;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The timeout policies in force, and what they mean for an order. */
@RestController
@RequestMapping("/api/v1/policies")
class PolicyController {

  private static final int MAX_TEXT_LENGTH = 1000;
  private static final Duration SHORTEST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofDays(365);

  /**
   * A timeout policy.
   *
   * @param name its name, recorded with the orders of which it sets the deadline
   * @param channel the channel of its orders; null for any
   * @param paymentMethod the payment method of its orders; null for any
   * @param above the amount of its orders is greater, as a decimal number; null for no limit
   * @param upTo the amount of its orders is at most this, as a decimal number; null for no limit
   * @param currency the currency of these amounts; null if the amount does not matter
   * @param timeout time to pay, from the creation of the order
   * @param businessDays business days to pay, instead of a timeout
   * @param until time of day at which the time to pay ends
   * @param zone zone of that time of day
   * @param grace how long after its deadline an order is not cancelled yet
   * @param warnings how long before its deadline it is warned, the longest time first
   * @param confirm how long after its deadline it waits for a confirmation that nothing can be paid
   *     any more; null if it does not
   * @param unconfirmed what becomes of it without one; null if none is awaited
   * @param exempt whether its orders have no deadline
   */
  record Policy(
      String name,
      @Nullable String channel,
      @Nullable String paymentMethod,
      @Nullable String above,
      @Nullable String upTo,
      @Nullable String currency,
      @Nullable Duration timeout,
      @Nullable Integer businessDays,
      @Nullable String until,
      @Nullable String zone,
      @Nullable Duration grace,
      List<Duration> warnings,
      @Nullable Duration confirm,
      @Nullable Unconfirmed unconfirmed,
      boolean exempt) {

    static Policy of(PaymentPolicy policy) {
      Amounts amounts = policy.amount();
      ZoneId zone = policy.zone();
      return new Policy(
          policy.name(),
          policy.channel(),
          policy.paymentMethod(),
          amounts == null ? null : text(amounts.above()),
          amounts == null ? null : text(amounts.upTo()),
          amounts == null ? null : amounts.currency(),
          policy.timeout(),
          policy.businessDays(),
          policy.until(),
          zone == null ? null : zone.getId(),
          policy.grace(),
          policy.warnings(),
          policy.confirm(),
          policy.confirm() == null ? null : policy.unconfirmed(),
          policy.exempt());
    }

    private static @Nullable String text(@Nullable BigDecimal value) {
      return value == null ? null : value.toPlainString();
    }
  }

  private final List<Policy> policies;
  private final DeadlinePreview preview;
  private final WhatIf whatIf;
  private final DatabaseClock clock;

  PolicyController(
      OrderTimeoutProperties properties,
      DeadlinePreview preview,
      WhatIf whatIf,
      DatabaseClock clock) {
    this.policies = properties.deadline().policies().stream().map(Policy::of).toList();
    this.preview = preview;
    this.whatIf = whatIf;
    this.clock = clock;
  }

  /** The policies in force, in the order in which they are compared with an order. */
  @GetMapping
  Page<Policy> policies(
      @RequestParam(required = false) @Nullable String after,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    long from = Page.number(after, 0);
    if (after != null && (from < 0 || from > policies.size())) {
      throw Page.invalid(after);
    }
    List<Policy> rest = policies.subList((int) from, policies.size());
    return Page.of(rest, limit, last -> Long.toString(from + limit));
  }

  /** What another timeout would have done to the orders of the last days; estimated by a sample. */
  @GetMapping("/what-if")
  @Reading
  WhatIf.Estimate whatIf(
      @RequestParam String timeout,
      @RequestParam(required = false) @Size(max = MAX_TEXT_LENGTH) @Nullable String channel,
      @RequestParam(required = false) @Size(max = MAX_TEXT_LENGTH) @Nullable String paymentMethod) {
    return whatIf.of(timeout(timeout), channel, paymentMethod);
  }

  private static Duration timeout(String text) {
    try {
      Duration timeout = StatedDuration.parse(text);
      if (timeout.compareTo(SHORTEST) >= 0 && timeout.compareTo(LONGEST) <= 0) {
        return timeout;
      }
      throw new InvalidRequestException("timeout", "must be from PT1S to P365D");
    } catch (DateTimeException e) {
      throw new InvalidRequestException("timeout", String.valueOf(e.getMessage()));
    }
  }

  /** Until when an order could be paid that states no deadline and no timeout. */
  @GetMapping("/preview")
  Preview preview(
      @RequestParam(required = false) @Nullable OffsetDateTime createdAt,
      @RequestParam(required = false) @Size(max = MAX_TEXT_LENGTH) @Nullable String channel,
      @RequestParam(required = false) @Size(max = MAX_TEXT_LENGTH) @Nullable String paymentMethod,
      @RequestParam(required = false) @Nullable BigDecimal amount,
      @RequestParam(required = false) @Size(max = MAX_TEXT_LENGTH) @Nullable String currency) {
    if ((amount == null) != (currency == null)) {
      throw new InvalidRequestException(
          amount == null ? "amount" : "currency", "amount and currency need each other");
    }
    try {
      return preview.of(
          createdAt == null ? clock.now() : createdAt.toInstant(),
          channel,
          paymentMethod,
          amount == null || currency == null ? null : new Amount(amount, currency));
    } catch (IllegalArgumentException e) {
      throw new InvalidRequestException("createdAt", String.valueOf(e.getMessage()));
    }
  }
}
