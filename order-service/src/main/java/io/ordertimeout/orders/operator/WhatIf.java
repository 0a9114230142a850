package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.order.Money;
import io.ordertimeout.orders.order.SettledOrderSample;
import io.ordertimeout.orders.order.SettledOrderSample.Settled;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * What another timeout would have done to the orders that were settled lately. It is estimated from
 * a sample, and changes nothing. Thread-safe.
 */
@Component
public class WhatIf {

  private static final Duration LONGEST = Duration.ofDays(7);

  /** How many steps the times to pay are counted by; ten of them are the longer timeout. */
  private static final int STEPS = 15;

  private static final int STEPS_OF_TIMEOUT = 10;

  /**
   * The time from the creation to the payment.
   *
   * @param upTo the end of the step, from the creation; the step begins at the end of the one
   *     before
   * @param paid how many orders were paid within it, about
   */
  public record TimeToPay(Duration upTo, long paid) {}

  /**
   * EstimatedOrders that would have ended otherwise.
   *
   * @param orders how many, about
   * @param amounts their amounts, about
   */
  public record EstimatedOrders(long orders, List<Money> amounts) {}

  /**
   * What the timeout would have done.
   *
   * @param from the orders were settled since then
   * @param to and until then
   * @param sampled how many orders of the sample match
   * @param orders how many orders these stand for
   * @param paid how many of these were paid, about
   * @param cancelled how many of these were cancelled, about
   * @param presentTimeout the median of the time that they had to pay; null if there are none
   * @param wouldBeCancelled those that were paid, but later than the timeout
   * @param wouldBePaid those that were cancelled, and paid afterwards, but within the timeout
   * @param releasedEarlier how much earlier the stock of the cancelled orders would have been
   *     released, in sum; negative if later
   * @param timesToPay of the orders that were paid; the last step ends after both timeouts
   */
  public record Estimate(
      Instant from,
      Instant to,
      int sampled,
      long orders,
      long paid,
      long cancelled,
      @Nullable Duration presentTimeout,
      EstimatedOrders wouldBeCancelled,
      EstimatedOrders wouldBePaid,
      Duration releasedEarlier,
      List<TimeToPay> timesToPay) {}

  private final SettledOrderSample sample;
  private final DatabaseClock clock;
  private final Duration window;

  WhatIf(SettledOrderSample sample, DatabaseClock clock, OrderTimeoutProperties properties) {
    this.sample = sample;
    this.clock = clock;
    Duration retention = properties.deadline().retention();
    this.window = retention.compareTo(LONGEST) < 0 ? retention : LONGEST;
  }

  /**
   * Estimates what the timeout would have done to the orders of the last seven days, or of those
   * that are kept.
   *
   * @param channel the channel of the orders; null for any
   * @param paymentMethod their payment method; null for any
   */
  @Transactional(readOnly = true)
  public Estimate of(Duration timeout, @Nullable String channel, @Nullable String paymentMethod) {
    Instant now = clock.now();
    Instant from = now.minus(window);
    return of(from, now, timeout, sample.read(from, now, channel, paymentMethod));
  }

  static Estimate of(Instant from, Instant to, Duration timeout, List<Settled> orders) {
    Duration present = median(orders.stream().map(WhatIf::timeout).sorted().toList());
    return new Estimate(
        from,
        to,
        orders.size(),
        sum(orders, order -> true),
        sum(orders, Settled::isPaid),
        sum(orders, Settled::isCancelled),
        present,
        matching(orders, order -> order.isPaid() && !isPaidWithin(order, timeout)),
        matching(orders, order -> order.isCancelled() && isPaidWithin(order, timeout)),
        releasedEarlier(orders, timeout),
        timesToPay(orders, timeout, present == null ? timeout : present));
  }

  private static Duration timeout(Settled order) {
    return Duration.between(order.createdAt(), order.deadline());
  }

  private static boolean isPaidWithin(Settled order, Duration timeout) {
    Instant paidAt = order.paidAt();
    return paidAt != null && !paidAt.isAfter(order.createdAt().plus(timeout));
  }

  private static long sum(List<Settled> orders, Predicate<Settled> of) {
    return Math.round(orders.stream().filter(of).mapToDouble(Settled::weight).sum());
  }

  private static EstimatedOrders matching(List<Settled> orders, Predicate<Settled> condition) {
    Map<String, BigDecimal> amounts = new TreeMap<>();
    for (Settled order : orders) {
      Amount amount = order.amount();
      if (amount != null && condition.test(order)) {
        amounts.merge(
            amount.currency(),
            amount.value().multiply(BigDecimal.valueOf(order.weight())),
            BigDecimal::add);
      }
    }
    amounts.replaceAll((currency, amount) -> amount.setScale(2, RoundingMode.HALF_UP));
    return new EstimatedOrders(sum(orders, condition), Money.listOf(amounts));
  }

  private static Duration releasedEarlier(List<Settled> orders, Duration timeout) {
    double seconds = 0;
    for (Settled order : orders) {
      if (order.isCancelled() && !isPaidWithin(order, timeout)) {
        seconds += order.weight() * timeout(order).minus(timeout).toMillis() / 1e3;
      }
    }
    return Duration.ofSeconds(Math.round(seconds));
  }

  private static List<TimeToPay> timesToPay(
      List<Settled> orders, Duration timeout, Duration present) {
    Duration longest = timeout.compareTo(present) > 0 ? timeout : present;
    Duration step = longest.dividedBy(STEPS_OF_TIMEOUT);
    double[] paid = new double[STEPS];
    for (Settled order : orders) {
      if (order.isPaid() && order.paidAt() != null) {
        long nanos = Duration.between(order.createdAt(), order.paidAt()).toNanos();
        int number = (int) Math.max(0, Math.min(STEPS, nanos / Math.max(1, step.toNanos())));
        if (number < STEPS) {
          paid[number] += order.weight();
        }
      }
    }
    List<TimeToPay> times = new ArrayList<>();
    for (int i = 0; i < STEPS; i++) {
      times.add(new TimeToPay(step.multipliedBy(i + 1L), Math.round(paid[i])));
    }
    return times;
  }

  private static @Nullable Duration median(List<Duration> sorted) {
    return sorted.isEmpty() ? null : sorted.get(sorted.size() / 2);
  }
}
