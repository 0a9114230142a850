package io.ordertimeout.orders;

import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.math.BigDecimal;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Set;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What is said about the deadlines of some orders: of a channel, of a payment method, of a range of
 * amounts, or of a combination of these.
 *
 * @param name name of the policy, recorded with the order
 * @param channel channel that an order must have to match; any if not set
 * @param paymentMethod payment method that an order must have to match; any if not set
 * @param amount amounts that an order must have to match; any, or none, if not set
 * @param timeout time to pay, from the creation of the order
 * @param businessDays business days to pay, instead of a timeout: the day of the creation does not
 *     count, nor do Saturdays, Sundays and holidays
 * @param until time of day at which the time to pay ends, for example "23:59", in quotes; a timeout
 *     is prolonged to that time
 * @param zone zone of that time of day, for example Europe/Berlin
 * @param grace how long after its deadline an order is not cancelled yet, which the customer is not
 *     told
 * @param warnings how long before its deadline events warn that an order is about to be cancelled,
 *     the longest time first
 * @param confirm how long after its deadline an order waits, at most, for an order-payment-attempt
 *     that ends all attempts, which the last warning asks for; it is not cancelled before
 * @param unconfirmed what becomes of an order for which there was none: park or cancel
 * @param exempt whether the orders have no deadline: they are registered as closed
 */
public record PaymentPolicy(
    @NotBlank String name,
    @Size(min = 1) @Nullable String channel,
    @Size(min = 1) @Nullable String paymentMethod,
    @Valid @Nullable Amounts amount,
    @DurationMin(seconds = 1) @DurationMax(days = 36_500) @Nullable Duration timeout,
    @Min(1) @Max(250) @Nullable Integer businessDays,
    @Nullable String until,
    @Nullable ZoneId zone,
    @DurationMin(seconds = 1) @DurationMax(days = 365) @Nullable Duration grace,
    @Size(max = 10) @DefaultValue
        List<@DurationMin(seconds = 1) @DurationMax(days = 365) Duration> warnings,
    @DurationMin(seconds = 1) @DurationMax(days = 365) @Nullable Duration confirm,
    @DefaultValue("park") Unconfirmed unconfirmed,
    @DefaultValue("false") boolean exempt) {

  /** Pattern of the codes of currencies that an order can have. */
  public static final String CURRENCY = "[A-Za-z0-9]{1,10}";

  /** What becomes of an order that nobody has confirmed. */
  public enum Unconfirmed {
    /** It is parked until an operator releases it. */
    PARK,
    /** It is cancelled. */
    CANCEL
  }

  /**
   * A range of amounts in a currency.
   *
   * @param above the range contains greater amounts only; no limit if not set
   * @param upTo the greatest amount in the range; no limit if not set
   * @param currency code of the currency, as orders state it; amounts in another one are not in the
   *     range
   */
  public record Amounts(
      @Nullable BigDecimal above,
      @Nullable BigDecimal upTo,
      @NotNull @Pattern(regexp = PaymentPolicy.CURRENCY) String currency) {

    /** Refuses a range that contains nothing or everything. */
    public Amounts {
      if (above == null && upTo == null) {
        throw new IllegalArgumentException("amount states neither above nor up-to");
      }
      if (above != null && upTo != null && above.compareTo(upTo) >= 0) {
        throw new IllegalArgumentException(
            "amount contains nothing: it is above %s and up to %s".formatted(above, upTo));
      }
    }

    private boolean contains(BigDecimal value, String inCurrency) {
      return currency.equalsIgnoreCase(inCurrency)
          && (above == null || value.compareTo(above) > 0)
          && (upTo == null || value.compareTo(upTo) <= 0);
    }

    private boolean containsAll(Amounts other) {
      return currency.equalsIgnoreCase(other.currency)
          && (above == null || (other.above != null && other.above.compareTo(above) >= 0))
          && (upTo == null || (other.upTo != null && other.upTo.compareTo(upTo) <= 0));
    }
  }

  /** Refuses a policy that does not say when an order of it is due. */
  public PaymentPolicy {
    boolean isTimed =
        timeout != null
            || businessDays != null
            || until != null
            || grace != null
            || confirm != null
            || !warnings.isEmpty();
    if (exempt && isTimed) {
      throw new IllegalArgumentException(
          "the policy '%s' is exempt, so it must not state a time".formatted(name));
    }
    if (!exempt && (timeout == null) == (businessDays == null)) {
      throw new IllegalArgumentException(
          "the policy '%s' has to state either a timeout or business-days, or exempt"
              .formatted(name));
    }
    if (businessDays != null && until == null) {
      throw new IllegalArgumentException(
          "the policy '%s' states business-days, so it has to state until".formatted(name));
    }
    for (Duration lead : warnings) {
      requireWholeSeconds("warnings", name, lead);
      if (timeout != null && until == null && lead.compareTo(timeout) >= 0) {
        throw new IllegalArgumentException(
            "warnings of the policy '%s' has %s, which is not shorter than its timeout, %s: no order of it would get this warning"
                .formatted(name, lead, timeout));
      }
    }
    for (int i = 1; i < warnings.size(); i++) {
      if (warnings.get(i).compareTo(warnings.get(i - 1)) >= 0) {
        throw new IllegalArgumentException(
            "warnings of the policy '%s' are %s: the longest time before the deadline has to be the first"
                .formatted(name, warnings));
      }
    }
    if (confirm != null) {
      requireWholeSeconds("confirm", name, confirm);
      if (warnings.isEmpty()) {
        throw new IllegalArgumentException(
            "the policy '%s' states confirm, so it has to state warnings: the last one asks for it"
                .formatted(name));
      }
    }
    if (grace != null) {
      requireWholeSeconds("grace", name, grace);
    }
    if ((until == null) != (zone == null)) {
      throw new IllegalArgumentException(
          "the policy '%s' has to state both until and zone, or neither".formatted(name));
    }
    if (until != null) {
      parsed(name, until);
    }
  }

  private static void requireWholeSeconds(String property, String policy, Duration length) {
    if (length.toNanosPart() != 0) {
      throw new IllegalArgumentException(
          "%s of the policy '%s' is %s, which is not in whole seconds"
              .formatted(property, policy, length));
    }
  }

  private static LocalTime parsed(String name, String until) {
    try {
      return LocalTime.parse(until);
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException(
          "until of the policy '%s' is '%s', which is not a time of day such as \"23:59\" (YAML needs the quotes)"
              .formatted(name, until));
    }
  }

  /**
   * Whether the policy applies to the orders with these properties. Producers and policies may
   * differ in case: a policy that never matches would be worse.
   *
   * @param ofAmount amount and currency; an order without an amount is in no range
   */
  public boolean matches(
      @Nullable String ofChannel,
      @Nullable String ofPaymentMethod,
      @Nullable BigDecimal ofAmount,
      @Nullable String ofCurrency) {
    return isAnyOr(channel, ofChannel)
        && isAnyOr(paymentMethod, ofPaymentMethod)
        && (amount == null
            || (ofAmount != null && ofCurrency != null && amount.contains(ofAmount, ofCurrency)));
  }

  /** Whether the policy matches every order that the other one matches. */
  boolean covers(PaymentPolicy other) {
    return isAnyOr(channel, other.channel)
        && isAnyOr(paymentMethod, other.paymentMethod)
        && (amount == null || (other.amount != null && amount.containsAll(other.amount)));
  }

  private static boolean isAnyOr(@Nullable String wanted, @Nullable String actual) {
    return wanted == null || wanted.equalsIgnoreCase(actual);
  }

  /** The shortest time to pay that an order of the policy may have. */
  Duration shortest() {
    if (timeout != null) {
      return timeout;
    }
    return businessDays == null ? Duration.ZERO : Duration.ofDays(businessDays - 1L);
  }

  /**
   * Returns when an order is due; not for exempt orders. If the zone's clocks are set forward over
   * the time of day, it is as much later; if they are set back over it, the second time counts.
   */
  public Instant deadline(Instant createdAt, Set<LocalDate> holidays) {
    Instant due = timeout == null ? createdAt : createdAt.plus(timeout);
    if (until == null || zone == null) {
      return due;
    }
    LocalTime time = parsed(name, until);
    LocalDate day = due.atZone(zone).toLocalDate();
    if (businessDays != null) {
      return at(afterBusinessDays(day, businessDays, holidays), time, zone);
    }
    Instant sameDay = at(day, time, zone);
    return sameDay.isBefore(due) ? at(day.plusDays(1), time, zone) : sameDay;
  }

  private static LocalDate afterBusinessDays(LocalDate day, int count, Set<LocalDate> holidays) {
    LocalDate last = day;
    for (int left = count; left > 0; ) {
      last = last.plusDays(1);
      DayOfWeek weekday = last.getDayOfWeek();
      if (weekday != DayOfWeek.SATURDAY
          && weekday != DayOfWeek.SUNDAY
          && !holidays.contains(last)) {
        left--;
      }
    }
    return last;
  }

  private static Instant at(LocalDate day, LocalTime time, ZoneId zone) {
    return ZonedDateTime.of(day, time, zone).withLaterOffsetAtOverlap().toInstant();
  }
}
