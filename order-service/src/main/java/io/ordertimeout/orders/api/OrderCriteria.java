package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.OrderSearch.Query;
import io.ordertimeout.orders.operator.OrderSearch.Sort;
import io.ordertimeout.orders.order.OrderState;
import jakarta.validation.Constraint;
import jakarta.validation.ConstraintValidator;
import jakarta.validation.ConstraintValidatorContext;
import jakarta.validation.Payload;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The query parameters of a search for orders; an order has to match all that are present.
 *
 * @param state the states that an order may have
 * @param dueFrom the earliest deadline, inclusive
 * @param dueTo the latest deadline, exclusive
 * @param overdue whether only pending orders that should have been decided are wanted
 * @param prefix the beginning of the order's id
 * @param channel the sales channel
 * @param currency the currency of the amount
 * @param amountFrom the least amount, inclusive; needs a currency
 * @param amountTo the greatest amount, inclusive; needs a currency
 * @param lateByMillis the least time, in milliseconds, after which a cancelled order was decided
 *     since it was due
 * @param sort what the orders are sorted by; a minus means descending
 */
@OrderCriteria.AmountsInCurrency
record OrderCriteria(
    @Nullable Set<OrderState> state,
    @Nullable OffsetDateTime dueFrom,
    @Nullable OffsetDateTime dueTo,
    @Nullable Boolean overdue,
    @Size(max = 2 * MAX_ID_LENGTH) @Nullable String prefix,
    @Size(max = MAX_TEXT_LENGTH) @Nullable String channel,
    @Size(max = MAX_TEXT_LENGTH) @Nullable String currency,
    @Nullable BigDecimal amountFrom,
    @Nullable BigDecimal amountTo,
    @Min(0) @Max(MAX_LATE_MILLIS) @Nullable Long lateByMillis,
    @Pattern(
            regexp = Sort.PATTERN,
            message = "must be one of deadline, -deadline, id, -id, lateness, -lateness")
        @Nullable String sort) {

  private static final int MAX_ID_LENGTH = 128;
  private static final int MAX_TEXT_LENGTH = 1000;
  private static final long MAX_LATE_MILLIS = 31_536_000_000L;

  Query query() {
    String beginning = Objects.requireNonNullElse(prefix, "");
    return new Query(
        Objects.requireNonNullElse(state, Set.of()),
        instant(dueFrom),
        instant(dueTo),
        Boolean.TRUE.equals(overdue),
        beginning,
        channel,
        currency,
        amountFrom,
        amountTo,
        lateByMillis == null ? null : Duration.ofMillis(lateByMillis),
        sort == null ? beginning.isEmpty() ? Sort.DEADLINE : Sort.ID : Sort.of(sort));
  }

  private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
    return time == null ? null : time.toInstant();
  }

  /** Limits of the amount have a currency. */
  @Target(ElementType.TYPE)
  @Retention(RetentionPolicy.RUNTIME)
  @Constraint(validatedBy = CurrencyCheck.class)
  @interface AmountsInCurrency {
    String message() default "needs a currency";

    Class<?>[] groups() default {};

    Class<? extends Payload>[] payload() default {};
  }

  static final class CurrencyCheck
      implements ConstraintValidator<AmountsInCurrency, OrderCriteria> {
    @Override
    public boolean isValid(OrderCriteria criteria, ConstraintValidatorContext context) {
      context.disableDefaultConstraintViolation();
      boolean isFromValid = isValid("amountFrom", criteria.amountFrom, criteria, context);
      boolean isToValid = isValid("amountTo", criteria.amountTo, criteria, context);
      return isFromValid && isToValid;
    }

    private static boolean isValid(
        String parameter,
        @Nullable BigDecimal amount,
        OrderCriteria criteria,
        ConstraintValidatorContext context) {
      if (amount == null || criteria.currency != null) {
        return true;
      }
      context
          .buildConstraintViolationWithTemplate(context.getDefaultConstraintMessageTemplate())
          .addPropertyNode(parameter)
          .addConstraintViolation();
      return false;
    }
  }
}
