package io.ordertimeout.orders.deadline;

import java.util.List;

/**
 * Events to be recorded together, each list in the order of arrival.
 *
 * @param created created orders
 * @param settled payments and closings
 */
public record OrderEventBatch(List<OrderCreated> created, List<OrderSettled> settled) {}
