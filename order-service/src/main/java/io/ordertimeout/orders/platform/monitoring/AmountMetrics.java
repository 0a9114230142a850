package io.ordertimeout.orders.platform.monitoring;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/**
 * Metrics of order amounts by currency. The currency of an event can be any text, so only the first
 * 20 get a time series of their own. Thread-safe.
 */
@Component
public class AmountMetrics {

  private static final int MAX_CURRENCIES = 20;
  private static final String OTHER = "other";

  private final MeterRegistry meters;
  private final Set<String> currencies = ConcurrentHashMap.newKeySet();

  AmountMetrics(MeterRegistry meters) {
    this.meters = meters;
  }

  /** Adds the amounts, by currency, of pending orders that were paid. */
  public void paid(Map<String, BigDecimal> amounts) {
    add("order.timeout.paid.amount", "Total amount of pending orders that were paid", amounts);
  }

  /** Adds the amounts, by currency, of orders whose cancellation was published. */
  public void cancelled(Map<String, BigDecimal> amounts) {
    add(
        "order.timeout.cancelled.amount",
        "Total amount of orders whose cancellation was published",
        amounts);
  }

  private void add(String name, String description, Map<String, BigDecimal> amounts) {
    amounts.forEach(
        (currency, amount) -> {
          // A counter must never decrease, but an event may carry a negative amount.
          if (amount.signum() > 0) {
            Counter.builder(name)
                .description(description)
                .tag("currency", tag(currency))
                .register(meters)
                .increment(amount.doubleValue());
          }
        });
  }

  private String tag(String currency) {
    if (currencies.contains(currency)) {
      return currency;
    }
    if (currencies.size() >= MAX_CURRENCIES) {
      return OTHER;
    }
    currencies.add(currency);
    return currency;
  }
}
