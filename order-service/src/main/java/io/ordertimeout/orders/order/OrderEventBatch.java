package io.ordertimeout.orders.order;

import java.util.List;

/**
 * Events that are stored together; each list is in the order of arrival.
 *
 * @param created created orders
 * @param settled payments and closures
 */
public record OrderEventBatch(List<OrderCreated> created, List<OrderSettled> settled) {}
