package io.ordertimeout.orders.operator.status;

import java.math.BigDecimal;
import java.util.Map;
import java.util.TreeMap;

/**
 * A number of orders that come due.
 *
 * @param orders how many they are
 * @param amounts their amounts, by currency
 */
record DueTotal(long orders, Map<String, BigDecimal> amounts) {

  DueTotal minus(DueTotal other) {
    Map<String, BigDecimal> rest = new TreeMap<>();
    amounts.forEach(
        (currency, amount) ->
            rest.put(
                currency,
                amount
                    .subtract(other.amounts.getOrDefault(currency, BigDecimal.ZERO))
                    .max(BigDecimal.ZERO)));
    return new DueTotal(Math.max(0, orders - other.orders), rest);
  }

  DueTotal plus(DueTotal other) {
    Map<String, BigDecimal> sum = new TreeMap<>(amounts);
    other.amounts.forEach((currency, amount) -> sum.merge(currency, amount, BigDecimal::add));
    return new DueTotal(orders + other.orders, sum);
  }
}
