package io.ordertimeout.orders.deadline;

import java.util.List;

/**
 * Events that are stored together; each list is in the order of arrival.
 *
 * @param created created orders
 * @param settled payments and closings
 */
public record OrderEventBatch(List<OrderCreated> created, List<OrderSettled> settled) {}
