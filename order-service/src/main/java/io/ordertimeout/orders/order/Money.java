package io.ordertimeout.orders.order;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * An amount as the API states it.
 *
 * @param value how much, as a decimal number with all its digits, because a JSON number would lose
 *     some of them in many clients
 * @param currency code of the currency, as the shop writes it
 */
public record Money(String value, String currency) {

  /** Creates an amount. */
  public static Money of(BigDecimal value, String currency) {
    return new Money(value.toPlainString(), currency);
  }

  /** Creates one amount for each currency, in the order of the map. */
  public static List<Money> listOf(Map<String, BigDecimal> amounts) {
    return amounts.entrySet().stream().map(sum -> of(sum.getValue(), sum.getKey())).toList();
  }
}
