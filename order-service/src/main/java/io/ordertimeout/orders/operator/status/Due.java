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
record Due(long orders, Map<String, BigDecimal> amounts) {

  Due minus(Due other) {
    Map<String, BigDecimal> rest = new TreeMap<>();
    amounts.forEach(
        (currency, amount) ->
            rest.put(
                currency,
                amount
                    .subtract(other.amounts.getOrDefault(currency, BigDecimal.ZERO))
                    .max(BigDecimal.ZERO)));
    return new Due(Math.max(0, orders - other.orders), rest);
  }

  Due plus(Due other) {
    Map<String, BigDecimal> sum = new TreeMap<>(amounts);
    other.amounts.forEach((currency, amount) -> sum.merge(currency, amount, BigDecimal::add));
    return new Due(orders + other.orders, sum);
  }
}
