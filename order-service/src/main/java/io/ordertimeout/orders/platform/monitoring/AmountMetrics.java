package io.ordertimeout.orders.platform.monitoring;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/**
 * Counts amounts of orders by currency. What is in an event is not ours, so only so many currencies
 * get a series of their own. Thread-safe.
 */
@Component
public class AmountMetrics {

  private static final int MOST_CURRENCIES = 20;
  private static final String OTHER = "other";

  private final MeterRegistry meters;
  private final Set<String> currencies = ConcurrentHashMap.newKeySet();

  AmountMetrics(MeterRegistry meters) {
    this.meters = meters;
  }

  /** Adds amounts, by currency, of pending orders that were paid. */
  public void paid(Map<String, BigDecimal> amounts) {
    add("order.timeout.paid.amount", "Amount of pending orders that were paid", amounts);
  }

  /** Adds amounts, by currency, of orders whose cancellation was published. */
  public void cancelled(Map<String, BigDecimal> amounts) {
    add(
        "order.timeout.cancelled.amount",
        "Amount of orders whose cancellation was published",
        amounts);
  }

  private void add(String name, String help, Map<String, BigDecimal> amounts) {
    amounts.forEach(
        (currency, amount) -> {
          // A counter never falls, whatever a shop calls an amount.
          if (amount.signum() > 0) {
            Counter.builder(name)
                .description(help)
                .tag("currency", known(currency))
                .register(meters)
                .increment(amount.doubleValue());
          }
        });
  }

  private String known(String currency) {
    if (currencies.contains(currency)) {
      return currency;
    }
    if (currencies.size() >= MOST_CURRENCIES) {
      return OTHER;
    }
    currencies.add(currency);
    return currency;
  }
}
