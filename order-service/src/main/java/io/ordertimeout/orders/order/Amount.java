package io.ordertimeout.orders.order;

import java.math.BigDecimal;

/**
 * An amount of money.
 *
 * @param value how much
 * @param currency code of the currency, as the shop writes it
 */
public record Amount(BigDecimal value, String currency) {}
